-- Queues as of now: for each queue below $1 and kind of work how it is controlled, how many intents are open, up to
-- 1000 of a bucket, the time of the oldest and the database's clock, both in microseconds since 1970, and how many
-- are applied per second, in thousandths. $2 only this queue, below 0: all; $3 only this kind, 0: both. By (bucket, id), and
-- intents_transactions.
with open as (
    select b.bucket % $1::int4 as queue, o.kind, count(*) as n,
        min(('x' || left(replace(o.id::text, '-', ''), 16))::bit(64)::int8) as oldest
    from generate_series(0, 1023) b(bucket)
    cross join lateral (
        (select x.kind, x.id from intents x where x.bucket = b.bucket::int2 and x.kind = 1 order by x.id limit 1000)
        union all
        (select x.kind, x.id from intents x where x.bucket = b.bucket::int2 and x.kind = 2 order by x.id limit 1000)) o
    group by 1, 2),
rates as (
    select r.queue, r.kind,
        sum(r.per_second * exp(- greatest(extract(epoch from now() - r.at), 0) / 10)) as per_second
    from apply_rates r
    group by 1, 2)
select q.queue, k.kind, c.works_until, coalesce(c.rate, 0), coalesce(o.n, 0), o.oldest,
    (coalesce(r.per_second, 0) * 1000)::int8, (extract(epoch from now()) * 1000000)::int8
from generate_series(0, $1::int4 - 1) q(queue)
cross join (values (1::int2), (2::int2)) k(kind)
left join queue_controls c on c.queue = q.queue and c.kind = k.kind
left join open o on o.queue = q.queue and o.kind = k.kind
left join rates r on r.queue = q.queue and r.kind = k.kind
where ($2::int4 < 0 or q.queue = $2::int4) and ($3::int2 = 0 or k.kind = $3::int2)
order by q.queue, k.kind
