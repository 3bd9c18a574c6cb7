-- SPDX-License-Identifier: Apache-2.0
-- The sources of source keys, read after their state rows were locked (guard G8); n is the position
-- in the arrays, from 1. $5: properties with more bytes come as null.
select u.n, e.version, e.ts, e.dead, coalesce(e.expires, 0),
    case when octet_length(e.properties) <= $5::int4 then e.properties end
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
join entities e on e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
