-- SPDX-License-Identifier: Apache-2.0
-- Delete the state rows of source keys that have no entries. The rows are locked.
delete from index_state s
using unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) u(t, p, r, b)
where s.table_id = any (array[u.t]) and s.partition_key = u.p and s.row_key = u.r and s.bucket = u.b
