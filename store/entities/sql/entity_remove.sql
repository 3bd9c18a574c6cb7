-- SPDX-License-Identifier: Apache-2.0
-- Delete rows: those that entity_lock has created in vain, and entries that are no longer needed.
delete from entities e
using unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) u(t, p, r, b)
where e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
