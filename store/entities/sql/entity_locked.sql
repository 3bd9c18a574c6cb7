-- SPDX-License-Identifier: Apache-2.0
-- The rows that were just locked, read in a later statement (guard G5), with their ctids. $5: for
-- which rows the properties are needed. $6: properties with more bytes come as null.
select u.n::int8, e.version, e.ts, e.dead,
    case when not u.w then '' when octet_length(e.properties) <= $6::int4 then e.properties end, coalesce(e.expires, 0),
    is_due(e.expires), e.ctid
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($5::bool[]) as w, generate_subscripts($1::int8[], 1) as n
) u
join entities e on e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
