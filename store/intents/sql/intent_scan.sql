-- SPDX-License-Identifier: Apache-2.0
-- Open intents of the buckets $1 behind the ids $2 (arrays of one length) that are at least $3
-- microseconds old and whose key does not wait for its next retry. Of each bucket the oldest, at
-- most $4, so that the work is bounded however much is open; at most $5 in all, the first of every
-- bucket before the second of any. An intent that was made more than five seconds ahead of the
-- clock counts as old enough, because the clock was set back; so does one whose retry is more than
-- twenty minutes ahead, twice as long as a retry ever waits. account: the table's; empty for a transaction,
-- whose partition key it is, and for a table that is gone. By (bucket, id).
select i.bucket, i.id, i.kind, i.table_id, i.partition_key, i.row_key, i.version, i.ctid,
    coalesce((select t.account from tables t where t.table_id = i.table_id), '') as account
from (select (extract(epoch from now()) * 1000000)::int8 as us) clock
cross join unnest($1::int2[], $2::uuid[]) u(bucket, after)
cross join lateral (
    select o.*, row_number() over (order by o.id) as turn
    from (values
        (u.after, (lpad(to_hex(clock.us - $3::int8), 16, '0') || repeat('0', 16))::uuid),
        (greatest(u.after, (lpad(to_hex(clock.us + 5000000), 16, '0') || repeat('0', 16))::uuid),
            repeat('f', 32)::uuid)) age(low, high)
    cross join lateral (
        select x.bucket, x.id, x.kind, x.table_id, x.partition_key, x.row_key, x.version, x.ctid
        from intents x
        where x.bucket = u.bucket and x.id > age.low and x.id < age.high
            and not exists (
                select from dead_letters d
                where d.kind = x.kind and d.table_id = x.table_id and d.partition_key = x.partition_key
                    and d.row_key = x.row_key and d.index_id = 0 and d.bucket = x.bucket
                    and d.next_try > now() and d.next_try < now() + interval '20 minutes'
                offset 0)
        order by x.id
        limit $4::int8) o) i
where i.turn <= $4::int8
order by i.turn, i.id
limit $5::int8
