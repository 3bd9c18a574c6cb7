-- SPDX-License-Identifier: Apache-2.0
-- The keys of a table's entities in key order, with the size of each entity, or of the parts of a
-- spread one that can have the properties $6. $1 table id; from key ($2, $3) on, or strictly behind
-- it if $4; at most $5 rows.
select e.partition_key, e.row_key,
    case when e.spread is null then octet_length(e.properties)
        else spread_bytes(e.table_id, e.partition_key, e.row_key, e.bucket, $6::text[]) end::int8
from entities e
where e.table_id = $1::int8
  and (e.partition_key, e.row_key) >= ($2::text, $3::text)
  and (not $4::bool or (e.partition_key, e.row_key) > ($2::text, $3::text))
  and not e.dead
order by e.partition_key, e.row_key
limit $5::int8
