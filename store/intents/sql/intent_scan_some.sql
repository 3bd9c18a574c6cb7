-- SPDX-License-Identifier: Apache-2.0
-- As intent_scan, for some work only: in the buckets $1 intents of the kinds $2 before the ids $3
-- and behind the ids $4 (arrays of one length), at least $5 microseconds old or more than five
-- seconds ahead of the clock; at most $6 of each bucket and kind, at most $7 in all. By (bucket,
-- id), and intents_transactions.
select i.bucket, i.id, i.kind, i.table_id, i.partition_key, i.row_key, i.version, i.ctid,
    coalesce((select t.account from tables t where t.table_id = i.table_id), '') as account
from (select (extract(epoch from now()) * 1000000)::int8 as us) clock
cross join unnest($1::int2[], $2::int2[], $3::uuid[], $4::uuid[]) u(bucket, kind, until, after)
cross join lateral (
    select o.*, row_number() over (order by o.id) as turn
    from (values
        (u.after, (lpad(to_hex(clock.us - $5::int8), 16, '0') || repeat('0', 16))::uuid),
        (greatest(u.after, (lpad(to_hex(clock.us + 5000000), 16, '0') || repeat('0', 16))::uuid),
            repeat('f', 32)::uuid)) age(low, high)
    cross join lateral (
        (select x.*, x.ctid from intents x
         where u.kind = 1 and x.kind = 1
            and x.bucket = u.bucket and x.id > age.low and x.id < u.until and x.id < age.high
            and not exists (
                select from dead_letters d
                where d.kind = x.kind and d.table_id = x.table_id and d.partition_key = x.partition_key
                    and d.row_key = x.row_key and d.index_id = 0 and d.bucket = x.bucket
                    and d.next_try > now() and d.next_try < now() + interval '20 minutes')
         order by x.id
         limit $6::int8)
        union all
        (select x.*, x.ctid from intents x
         where u.kind = 2 and x.kind = 2
            and x.bucket = u.bucket and x.id > age.low and x.id < u.until and x.id < age.high
            and not exists (
                select from dead_letters d
                where d.kind = x.kind and d.table_id = x.table_id and d.partition_key = x.partition_key
                    and d.row_key = x.row_key and d.index_id = 0 and d.bucket = x.bucket
                    and d.next_try > now() and d.next_try < now() + interval '20 minutes')
         order by x.id
         limit $6::int8)
        union all
        (select x.*, x.ctid from intents x
         where u.kind > 2 and x.kind > 2 and x.kind = u.kind
            and x.bucket = u.bucket and x.id > age.low and x.id < u.until and x.id < age.high
            and not exists (
                select from dead_letters d
                where d.kind = x.kind and d.table_id = x.table_id and d.partition_key = x.partition_key
                    and d.row_key = x.row_key and d.index_id = 0 and d.bucket = x.bucket
                    and d.next_try > now() and d.next_try < now() + interval '20 minutes')
         order by x.id
         limit $6::int8)) o) i
where i.turn <= $6::int8
order by i.turn, i.id
limit $7::int8
