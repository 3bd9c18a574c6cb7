-- Open intents in the lanes $1, each of $2 buckets, per queue, of $3, and kind: how many, up to 1000 of a bucket, and the
-- age of the oldest in microseconds. By (bucket, id), and intents_transactions.
select b.bucket % $3::int4, o.kind, count(*), (extract(epoch from now()) * 1000000)::int8
    - min(('x' || left(replace(o.id::text, '-', ''), 16))::bit(64)::int8)
from unnest($1::int2[]) l(lane)
cross join lateral generate_series(l.lane * $2::int4, l.lane * $2::int4 + $2::int4 - 1) b(bucket)
cross join lateral (
    (select x.kind, x.id from intents x where x.bucket = b.bucket::int2 and x.kind = 1 order by x.id limit 1000)
    union all
    (select x.kind, x.id from intents x where x.bucket = b.bucket::int2 and x.kind = 2 order by x.id limit 1000)) o
group by 1, 2
