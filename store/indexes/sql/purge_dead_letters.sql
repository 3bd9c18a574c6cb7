-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 dead letters of the source table $1: those of index $3, or all if $3 is 0.
-- Returns the number of deleted rows.
with gone as (
    delete from dead_letters d
    where (d.kind, d.table_id, d.partition_key, d.row_key, d.index_id, d.bucket) in (
        select kind, table_id, partition_key, row_key, index_id, bucket from dead_letters
        where kind = 1 and table_id = $1::int8 and ($3::int8 = 0 or index_id = $3::int8)
        limit $2::int8)
    returning 1
)
select count(*) from gone
