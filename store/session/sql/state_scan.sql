-- SPDX-License-Identifier: Apache-2.0
-- State rows of a source table in key order, without a lock. $1 table id; from key ($2, $3) on, or
-- strictly behind it if $4; at most $5 rows. By the primary key.
select s.partition_key, s.row_key, s.manifest, s.applied
from index_state s
where s.table_id = $1::int8
  and (s.partition_key, s.row_key) >= ($2::text, $3::text)
  and (not $4::bool or (s.partition_key, s.row_key) > ($2::text, $3::text))
order by s.partition_key, s.row_key
limit $5::int8
