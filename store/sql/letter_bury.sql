-- Turn a failing key into a dead letter: kind, table id, partition key, row key, bucket.
insert into dead_letters as d
    (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, cause, history)
values ($1::int2, $2::int8, $3::text, $4::text, $5::int2, 0, true, 0, 'given up without a counted failure', '')
on conflict (kind, table_id, partition_key, row_key, index_id, bucket) do update
set dead = true, discarded = false, next_try = now()
