-- SPDX-License-Identifier: Apache-2.0
-- Delete markers that are an hour old, $1 at most: their connections are gone, and nothing asks for them any more.
with old as materialized (
    select c.bucket, c.connection_id, c.number from commit_markers c where c.at < now() - interval '1 hour' limit $1::int8
    for update skip locked)
delete from commit_markers c
using old o
where c.bucket = any (array[o.bucket]) and c.connection_id = o.connection_id and c.number = o.number
returning 1
