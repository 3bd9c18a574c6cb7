-- SPDX-License-Identifier: Apache-2.0
-- Rows of a table in key order: keys, version, and the first $6 bytes of the properties, where an
-- entry has the key of its source. $1 table id; from key ($2, $3) on, or strictly behind it if $4;
-- at most $5 rows. By the primary key.
select e.partition_key, e.row_key, e.version, substring(e.properties from 1 for $6::int4)
from entities e
where e.table_id = $1::int8
  and (e.partition_key, e.row_key) >= ($2::text, $3::text)
  and (not $4::bool or (e.partition_key, e.row_key) > ($2::text, $3::text))
  and not e.dead
order by e.partition_key, e.row_key
limit $5::int8
