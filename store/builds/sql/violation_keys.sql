-- SPDX-License-Identifier: Apache-2.0
-- The keys of table $1 that have a violation of index $6, in key order, as in chunk_keys: from ($2, $3) on, or strictly
-- behind it if $4; at most $5 rows. Kind 1: reconciling. By the primary key.
select d.partition_key, d.row_key, 0::int8
from dead_letters d
where d.kind = 1 and d.table_id = $1::int8
  and (d.partition_key, d.row_key) >= ($2::text, $3::text)
  and (not $4::bool or (d.partition_key, d.row_key) > ($2::text, $3::text))
  and d.index_id = $6::int8
order by d.partition_key, d.row_key
limit $5::int8
