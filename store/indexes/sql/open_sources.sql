-- SPDX-License-Identifier: Apache-2.0
-- The source keys of table $1 with which some index may be behind: those with an open intent and
-- those with a dead letter, at most $2 of each. By intents_key and dead_letters_whole_keys.
(select distinct i.partition_key, i.row_key from intents i where i.table_id = $1::int8 limit $2::int8)
union
(select d.partition_key, d.row_key from dead_letters d
 where d.kind = 1 and d.table_id = $1::int8 and d.index_id = 0 limit $2::int8)
