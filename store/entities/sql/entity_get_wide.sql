-- SPDX-License-Identifier: Apache-2.0
-- As entity_get, for tables with wide entities. $6: names of properties: those of a spread entity
-- come from the parts that can have them; null: all. $5 bounds what comes from the parts. The last
-- column is the bytes of all properties.
select u.n::int8, (select version from catalogue), e.version, e.ts,
    case when e.spread is not null
            then spread_properties(e.table_id, e.partition_key, e.row_key, e.bucket, e.spread, $5::int4, $6::text[])
        when octet_length(e.properties) <= $5::int4 then e.properties end,
    e.expires, coalesce(e.spread, octet_length(e.properties))
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        generate_subscripts($1::int8[], 1) as n
) u
left join lateral (
    select x.table_id, x.partition_key, x.row_key, x.bucket, x.version, x.ts, x.properties, x.expires, x.spread
    from entities x
    where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b and not x.dead
        and not is_due(x.expires)
    offset 0
) e on true
