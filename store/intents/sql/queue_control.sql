-- SPDX-License-Identifier: Apache-2.0
-- Control queues: $1 the number of queues, $2 which queue (below 0: all), $3 the kind of work (0:
-- all), $4 the command: 1 pause, 2 resume, 3 drain, 4 limit the rate, $5 that rate. Resuming keeps
-- the rate.
insert into queue_controls as c (queue, kind, intents_before_us, rate)
select q.queue, k.kind,
    case $4::int2 when 1 then 0 when 3 then (extract(epoch from now()) * 1000000)::int8 end,
    case $4::int2 when 4 then $5::int8 else 0 end
from generate_series(0, $1::int4 - 1) q(queue)
cross join (values (1::int2), (2::int2), (3::int2), (4::int2)) k(kind)
where ($2::int4 < 0 or q.queue = $2::int4) and ($3::int2 = 0 or k.kind = $3::int2)
order by q.queue, k.kind
on conflict (queue, kind) do update
set intents_before_us = case when $4::int2 = 4 then c.intents_before_us else excluded.intents_before_us end,
    rate = case when $4::int2 = 4 then excluded.rate else c.rate end
