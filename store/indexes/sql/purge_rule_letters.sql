-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 dead letters of work for the rule of the dropped index $1. Returns the number of deleted rows.
with gone as (
    delete from dead_letters d
    where (d.kind, d.table_id, d.partition_key, d.row_key, d.index_id, d.bucket) in (
        select kind, table_id, partition_key, row_key, index_id, bucket from dead_letters
        where kind in (3, 4) and table_id = $1::int8
        limit $2::int8)
    returning 1
)
select count(*) from gone
