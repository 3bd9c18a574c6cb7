-- SPDX-License-Identifier: Apache-2.0
-- Lock the existing entries at the given keys, one after another in the order of the arrays, and
-- read them once they are locked; n is the position in the arrays, from 1. For repairs, which do
-- not rely on manifests.
select u.n, e.properties, e.version, coalesce(e.expires, 0)
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
cross join lateral (
    select x.properties, x.version, x.expires
    from entities x
    where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b and not x.dead
    for update
) e
