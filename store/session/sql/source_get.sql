-- SPDX-License-Identifier: Apache-2.0
-- The sources of source keys, read after their state rows were locked (guard G8); n is the position
-- in the arrays, from 1. $5: properties with more bytes come as null. $6 tables and $7 names of
-- properties: those of a spread entity come from the parts that can have them (guard G62).
select u.n::int8, e.version, e.ts, e.dead, coalesce(e.expires, 0),
    case when e.spread is not null
            then spread_properties(e.table_id, e.partition_key, e.row_key, e.bucket, e.spread, $5::int4,
                array(select w.name from unnest($6::int8[], $7::text[]) w(t, name) where w.t = e.table_id))
        when octet_length(e.properties) <= $5::int4 then e.properties end
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        generate_subscripts($1::int8[], 1) as n
) u
join entities e on e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
