-- SPDX-License-Identifier: Apache-2.0
-- The stored entries at the given keys, expired ones included. $1 table ids, $2 partition keys, $3
-- row keys, $4 buckets: arrays of one length. n is the position in the arrays, from 1. Every row
-- has the catalogue's version, whether an entry was found or not.
select u.n::int8, (select version from catalogue), e.version, e.ts, e.properties, coalesce(e.expires, 0)
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        generate_subscripts($1::int8[], 1) as n
) u
left join lateral (
    select x.version, x.ts, x.properties, x.expires
    from entities x
    where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b and not x.dead
    offset 0
) e on true
