-- SPDX-License-Identifier: Apache-2.0
-- Remove at most $3 dead rows that are older than $1 seconds and whose version is at or below the
-- floor $2, which is in force for every writer (guard G3). A row that a writer has locked is
-- skipped, since the writer may insert the entity again.
with doomed as materialized (
    select e.table_id, e.partition_key, e.row_key, e.bucket
    from generate_series(0, 1023) b(bucket)
    cross join lateral (
        select x.table_id, x.partition_key, x.row_key, x.bucket from entities x
        where x.bucket = b.bucket::int2 and x.dead and x.version <= $2::int8
            and x.ts < ((extract(epoch from now()) + 11644473600 - $1::int8) * 10000000)::int8
        limit $3::int8
        for update skip locked) e
    limit $3::int8)
delete from entities e
using doomed d
where e.table_id = any (array[d.table_id]) and e.partition_key = d.partition_key and e.row_key = d.row_key
    and e.bucket = d.bucket
returning 1
