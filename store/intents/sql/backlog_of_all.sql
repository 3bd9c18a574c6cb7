-- SPDX-License-Identifier: Apache-2.0
-- Of all workers together, as of now: for how many microseconds the oldest open intent of a source
-- key has waited (0: none is open), and the number of dead letters that are not discarded. By
-- (bucket, id).
select coalesce(greatest(0, (extract(epoch from now()) * 1000000)::int8 - (
        select min(intent_created_us(o.id))
        from generate_series(0, 1023) b(bucket)
        cross join lateral oldest_intents(b.bucket::int2) o
        where o.kind <> 2)), 0),
    (select count(*) from dead_letters d where d.dead and not d.discarded)
