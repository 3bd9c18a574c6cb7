-- SPDX-License-Identifier: Apache-2.0
-- Delete the dead letters of source keys in the indexes $5 (index ids), which have been corrected.
-- Kind 1: reconciling. The state rows are locked.
delete from dead_letters d
using unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::int8[]) u(t, p, r, b, i)
where d.kind = 1 and d.table_id = u.t and d.partition_key = u.p and d.row_key = u.r and d.index_id = u.i
    and d.bucket = u.b
