-- SPDX-License-Identifier: Apache-2.0
-- The source keys of table $1, from ($2, $3) to ($4, $5), both included, that have a dead letter of
-- the whole key (index 0) or of one of the indexes $6, in key order. Kind 1: reconciling. By the
-- primary key.
select distinct d.partition_key, d.row_key
from dead_letters d
where d.kind = 1 and d.table_id = $1::int8
  and (d.partition_key, d.row_key) >= ($2::text, $3::text)
  and (d.partition_key, d.row_key) <= ($4::text, $5::text)
  and (d.index_id = 0 or d.index_id = any ($6::int8[]))
order by d.partition_key, d.row_key
