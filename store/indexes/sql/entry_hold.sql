-- SPDX-License-Identifier: Apache-2.0
-- Lock the existing entries at the given keys, one after another in the order of the arrays, and
-- read them once they are locked; n is the position in the arrays, from 1. For repairs, which do
-- not rely on manifests.
select u.n::int8, e.properties, e.version, coalesce(e.expires, 0)
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        generate_subscripts($1::int8[], 1) as n
) u
cross join lateral (
    select x.properties, x.version, x.expires
    from entities x
    where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b and not x.dead
    for update
) e
