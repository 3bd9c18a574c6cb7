-- SPDX-License-Identifier: Apache-2.0
-- For metrics: the number of dead letters for each kind of work (1 keys, 2 transactions, 3 copies, 4 visits) and state
-- (1 dead, 2 retrying, 3 discarded) that has any.
select d.kind, (case when d.discarded then 3 when d.dead then 1 else 2 end)::int2, count(*)
from dead_letters d
group by 1, 2
