-- SPDX-License-Identifier: Apache-2.0
-- The source keys of table $1 that have an open intent or a dead letter, in key order: an index may
-- be behind with them. Starts behind key ($2, $3) if $4; at most $5 rows. By intents_key and dead_letters_whole_keys.
(select distinct i.partition_key, i.row_key
 from intents i
 where i.table_id = $1::int8 and (not $4::bool or (i.partition_key, i.row_key) > ($2::text, $3::text))
 order by 1, 2
 limit $5::int8)
union
(select distinct d.partition_key, d.row_key
 from dead_letters d
 where d.kind = 1 and d.table_id = $1::int8 and d.index_id = 0
    and (not $4::bool or (d.partition_key, d.row_key) > ($2::text, $3::text))
 order by 1, 2
 limit $5::int8)
order by 1, 2
limit $5::int8
