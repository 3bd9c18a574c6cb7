-- SPDX-License-Identifier: Apache-2.0
-- The source keys of a table that have an open intent or a dead letter, in key order. $1 table id;
-- from key ($2, $3) on, or strictly behind it if $4; at most $5 rows. By intents_key, and the
-- primary key of dead_letters.
select k.partition_key, k.row_key
from (
    (select distinct i.partition_key, i.row_key
     from intents i
     where i.table_id = $1::int8
       and (i.partition_key, i.row_key) >= ($2::text, $3::text)
       and (not $4::bool or (i.partition_key, i.row_key) > ($2::text, $3::text))
     order by 1, 2
     limit $5::int8)
    union
    (select d.partition_key, d.row_key
     from dead_letters d
     where d.kind = 1 and d.table_id = $1::int8 and d.index_id = 0
       and (d.partition_key, d.row_key) >= ($2::text, $3::text)
       and (not $4::bool or (d.partition_key, d.row_key) > ($2::text, $3::text))
     order by 1, 2
     limit $5::int8)
) k
order by 1, 2
limit $5::int8
