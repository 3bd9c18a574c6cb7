-- SPDX-License-Identifier: Apache-2.0
-- The bytes of strays $1 are removed. Those of $2 could not be: they are tried again after $3 seconds.
with removed as (
    delete from blob_strays where object_id = any ($1::uuid[]) and removing
)
update blob_strays set due = now() + make_interval(secs => $3::int8) where object_id = any ($2::uuid[]) and removing
