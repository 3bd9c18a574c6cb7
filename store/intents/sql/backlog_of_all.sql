-- SPDX-License-Identifier: Apache-2.0
-- Of all workers together, as of now: for how many microseconds the oldest open intent of a source
-- key has waited (0: none is open), and the number of dead letters that are not discarded; more than
-- 10,000 of a kind of work count as 10,000. By (bucket, id), and dead_letters_counts.
select coalesce(greatest(0, (extract(epoch from now()) * 1000000)::int8 - (
        select min(intent_created_us(o.id))
        from generate_series(0, 1023) b(bucket)
        cross join lateral oldest_intents(b.bucket::int2) o
        where o.kind <> 2)), 0),
    (select count(*)
    from (values (1::int2, false), (2::int2, false), (3::int2, false), (4::int2, false)) k(kind, discarded)
    cross join lateral (
        select from dead_letters d where d.dead and d.kind = k.kind and d.discarded = k.discarded limit 10000) few)
