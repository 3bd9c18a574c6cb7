-- Some state rows of a table that is gone. $1 table id, $2 how many. Returns how many went.
with gone as (
    delete from index_state s
    where (s.table_id, s.partition_key, s.row_key, s.bucket) in (
        select table_id, partition_key, row_key, bucket from index_state where table_id = $1::int8 limit $2::int8)
    returning 1
)
select count(*) from gone
