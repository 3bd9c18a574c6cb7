-- SPDX-License-Identifier: Apache-2.0
-- Lock the rows that exist, one after another in the order of the arrays, and read them once they are
-- locked (guard G5): columns and parameters as in entity_locked. The arrays are sorted by key, each key
-- once. A key without a row is not locked, so nothing may be concluded from its absence (guard G4).
select u.n::int8, e.version, e.ts, e.dead,
    case when not u.w then '' when octet_length(e.properties) <= $6::int4 then e.properties end, coalesce(e.expires, 0),
    is_due(e.expires), e.ctid
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($5::bool[]) as w, generate_subscripts($1::int8[], 1) as n
) u
cross join lateral (
    select x.version, x.ts, x.dead, x.properties, x.expires, x.ctid
    from entities x
    where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b
    for no key update
) e
