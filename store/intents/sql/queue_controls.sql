-- SPDX-License-Identifier: Apache-2.0
-- How work is spread over queues, and which work is controlled: version, queues; queue (null:
-- none), kind, intents_before_us, rate.
select m.version, m.queues, c.queue, c.kind, c.intents_before_us, c.rate
from queue_map m
left join queue_controls c on c.intents_before_us is not null or c.rate > 0
