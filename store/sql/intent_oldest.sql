-- In one snapshot, of the lanes $1, each of $2 buckets, per queue, of $3, and kind: the oldest open intent, in microseconds
-- since 1970, and the database's clock in the same. Without a kind: lane and queue have buckets with nothing open. By
-- (bucket, id), and intents_transactions.
select l.lane, b.bucket % $3::int4, o.kind, min(made_us(o.id)), (extract(epoch from now()) * 1000000)::int8
from unnest($1::int2[]) l(lane)
cross join lateral generate_series(l.lane * $2::int4, l.lane * $2::int4 + $2::int4 - 1) b(bucket)
left join lateral oldest_intents(b.bucket::int2) o on true
group by 1, 2, 3
