-- SPDX-License-Identifier: Apache-2.0
-- The rows that were just locked, read in a later statement (guard G5), with their ctids. $5: for
-- which rows the properties are needed. $6: properties with more bytes come as null.
select u.n, e.version, e.ts, e.dead,
    case when not u.w then '' when octet_length(e.properties) <= $6::int4 then e.properties end, coalesce(e.expires, 0),
    is_due(e.expires), e.ctid
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::bool[]) with ordinality u(t, p, r, b, w, n)
join entities e on e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
