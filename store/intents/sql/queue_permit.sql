-- SPDX-License-Identifier: Apache-2.0
-- How many of $3 intents of queue $1 and kind $2 may be worked on now; unused permits of up to one
-- second are kept. No row: the queue has no limit. The lock of the row makes this one limit for all
-- workers; the clock is the database's.
with held as (
    select c.rate, least(
        greatest(c.rate, 1)::float8,
        c.credit + c.rate * greatest(extract(epoch from clock_timestamp() - c.credited), 0)) as credit
    from queue_controls c
    where c.queue = $1::int2 and c.kind = $2::int2 and c.rate > 0
    for update)
update queue_controls c
set credit = h.credit - least(floor(h.credit), $3::int8), credited = clock_timestamp()
from held h
where c.queue = $1::int2 and c.kind = $2::int2
returning least(floor(h.credit), $3::int8)::int8
