-- SPDX-License-Identifier: Apache-2.0
-- How work is spread over queues and what of it is controlled: version, queues; queue (null: none), kind, works_until, rate.
select m.version, m.queues, c.queue, c.kind, c.works_until, c.rate
from queue_map m
left join queue_controls c on c.works_until is not null or c.rate > 0
