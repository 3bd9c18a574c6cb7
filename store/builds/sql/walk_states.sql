-- SPDX-License-Identifier: Apache-2.0
-- The state rows of a range of source keys in key order, without a lock. $1 table id, from ($2, $3)
-- to ($4, $5), both included.
select s.partition_key, s.row_key, s.applied, s.manifest, s.ctid
from index_state s
where s.table_id = $1::int8
  and (s.partition_key, s.row_key) >= ($2::text, $3::text)
  and (s.partition_key, s.row_key) <= ($4::text, $5::text)
order by s.partition_key, s.row_key
