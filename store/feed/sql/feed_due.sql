-- SPDX-License-Identifier: Apache-2.0
-- One feed that has something to remove: changes older than $1 seconds by this database's clock, or all of it, because
-- no table keeps it any more (is_over). $2: only feeds behind this id.
select f.feed_id, t.feed_id is null as is_over
from feeds f
left join tables t on t.live and t.feed_id = f.feed_id
where f.feed_id > $2::int8
    and (t.feed_id is null or (
        select c.at from changes c where c.feed_id = f.feed_id order by c.number limit 1)
            < now() - $1::int8 * interval '1 second')
order by f.feed_id
limit 1
