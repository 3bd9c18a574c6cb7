-- SPDX-License-Identifier: Apache-2.0
-- Of the given keys, the rows that the transaction with the marker ($1, $2) has written and no
-- later transaction has written again: their xmin is that of the marker. $3 table ids, $4 partition
-- keys, $5 row keys, $6 buckets: arrays of one length; n is the position in them, from 1.
select u.n, e.version, e.ts
from commit_markers c
cross join unnest($3::int8[], $4::text[], $5::text[], $6::int2[]) with ordinality u(t, p, r, b, n)
join entities e on e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
where c.bucket = 0 and c.connection_id = $1::int8 and c.number = $2::int8 and e.xmin = c.xmin
