-- SPDX-License-Identifier: Apache-2.0
-- In one snapshot, of the bucket ranges $1, each of $2 buckets, per queue, of $3, and kind: the oldest open intent, in
-- microseconds since 1970, and the database's clock in the same; and whether work on source keys lies ahead of this
-- clock, which has been set back then. Without a kind: bucket range and queue have buckets with nothing open. By
-- (bucket, id), and intents_transactions. The clock is read once, after the snapshot was taken: what is in it was made
-- before.
select r.bucket_range, b.bucket % $3::int4, o.kind, min(intent_created_us(o.id)), (extract(epoch from now()) * 1000000)::int8,
    bool_or(exists (
        select from intents x
        where x.bucket = b.bucket::int2 and x.kind = 1 and x.id > (
            select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000000)::int8), 16, '0') || repeat('f', 16))::uuid)
        offset 0))
from unnest($1::int2[]) r(bucket_range)
cross join lateral generate_series(r.bucket_range * $2::int4, r.bucket_range * $2::int4 + $2::int4 - 1) b(bucket)
left join lateral oldest_intents(b.bucket::int2) o on true
group by 1, 2, 3
