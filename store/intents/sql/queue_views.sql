-- SPDX-License-Identifier: Apache-2.0
-- The queues as of now: for each queue below $1 and kind of work its control, the number of open
-- intents, the time of the oldest one and the database's clock, both in microseconds since 1970,
-- and the applied intents in thousandths per second. $2 only this queue, below 0: all; $3 only this
-- kind, 0: all. The oldest by (bucket, id), intents_transactions and intents_of_rules; counted as in intent_count,
-- from at most 4 MB.
with oldest as (
    select b.bucket % $1::int4 as queue, o.kind, min(intent_created_us(o.id)) as us
    from generate_series(0, 1023) b(bucket)
    cross join lateral oldest_intents(b.bucket::int2) o
    group by 1, 2),
counts as (
    select i.bucket % $1::int4 as queue, i.kind, (count(*) * greatest(1, pg_relation_size('intents') / 4194304.0))::int8 as n
    from intents i tablesample system (100 / greatest(1, pg_relation_size('intents') / 4194304.0))
    group by 1, 2),
rates as (
    select r.queue, r.kind,
        sum(r.per_second * exp(- abs(extract(epoch from now() - r.at)) / 10)) as per_second
    from apply_rates r
    group by 1, 2)
select q.queue, k.kind, c.intents_before_us, coalesce(c.rate, 0),
    case when o.us is null then 0 else greatest(1, coalesce(n.n, 0)) end, o.us,
    (coalesce(r.per_second, 0) * 1000)::int8, (extract(epoch from now()) * 1000000)::int8
from generate_series(0, $1::int4 - 1) q(queue)
cross join (values (1::int2), (2::int2), (3::int2), (4::int2)) k(kind)
left join queue_controls c on c.queue = q.queue and c.kind = k.kind
left join oldest o on o.queue = q.queue and o.kind = k.kind
left join counts n on n.queue = q.queue and n.kind = k.kind
left join rates r on r.queue = q.queue and r.kind = k.kind
where ($2::int4 < 0 or q.queue = $2::int4) and ($3::int2 = 0 or k.kind = $3::int2)
order by q.queue, k.kind
