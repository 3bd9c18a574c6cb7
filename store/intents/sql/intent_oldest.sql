-- SPDX-License-Identifier: Apache-2.0
-- In one snapshot, for the bucket ranges $1, of $2 buckets each, per queue (of $3 queues) and kind:
-- the time of the oldest open intent and the database's clock, both in microseconds since 1970; and
-- whether work on source keys has a time ahead of this clock, which then was set back. A row
-- without a kind: this bucket range and queue have buckets with nothing open. By (bucket, id), and
-- intents_transactions. The clock is read once, after the snapshot was taken, so everything in the
-- snapshot was made before. Most buckets have nothing open at most times: one search finds that, and the other four are
-- not made.
select r.bucket_range, b.bucket % $3::int4, o.kind, min(intent_created_us(o.id)), (extract(epoch from now()) * 1000000)::int8,
    coalesce(bool_or(o.is_ahead), false)
from unnest($1::int2[]) r(bucket_range)
cross join lateral generate_series(r.bucket_range * $2::int4, r.bucket_range * $2::int4 + $2::int4 - 1) b(bucket)
left join lateral (
    select i.kind, i.id, exists (
        select from intents x
        where x.bucket = b.bucket::int2 and x.kind = 1 and x.id > (
            select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000000)::int8), 16, '0') || repeat('f', 16))::uuid)
        offset 0) as is_ahead
    from (select from intents x where x.bucket = b.bucket::int2 limit 1) any_open
    cross join lateral oldest_intents(b.bucket::int2) i) o on true
group by 1, 2, 3
