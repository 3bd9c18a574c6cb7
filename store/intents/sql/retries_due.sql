-- SPDX-License-Identifier: Apache-2.0
-- Open intents of keys that have failed and whose next try is due, in the bucket ranges $1 of $2 buckets each:
-- at most $3 of each account, those that have been due for longest, and $4 in all; none of the work with the slots
-- $5 (queue_slot of queue_control.h; $6 queues, $7 kinds of work). Columns as intent_scan. As there, a retry that is
-- more than twenty minutes ahead counts as due. One intent of a key is enough. This relies on the
-- index dead_letters_retries: index_id + 0 keeps the planner from the primary key, and two searches stand in place of one
-- with "or", which would read the whole index, because sessions set enable_bitmapscan = off.
select i.bucket, i.id, i.kind, i.table_id, i.partition_key, i.row_key, i.version, i.ctid, r.account
from (
    select d.*, row_number() over (partition by d.account order by d.next_try, d.partition_key, d.row_key) as turn
    from (
        select l.kind, l.table_id, l.partition_key, l.row_key, l.bucket, l.next_try,
            case when l.kind = 2 then l.partition_key
                else coalesce((select t.account from tables t where t.table_id = l.table_id), '') end as account
        from (
            select kind, table_id, partition_key, row_key, bucket, next_try from dead_letters
            where not dead and index_id + 0 = 0 and next_try <= now()
            union all
            select kind, table_id, partition_key, row_key, bucket, next_try from dead_letters
            where not dead and index_id + 0 = 0 and next_try >= now() + interval '20 minutes') l
        where l.bucket / $2::int2 = any($1::int2[])
            and not (l.bucket % $6::int2) * $7::int2 + l.kind - 1 = any($5::int2[])) d) r
cross join lateral (
    select x.*, x.ctid
    from intents x
    where x.table_id = r.table_id and x.partition_key = r.partition_key and x.row_key = r.row_key
        and x.kind = r.kind and x.bucket = r.bucket
    limit 1) i
where r.turn <= $3::int8
order by r.turn, i.id
limit $4::int8
