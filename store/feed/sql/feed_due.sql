-- SPDX-License-Identifier: Apache-2.0
-- The first feed with an id above $2 that has something to remove: changes older than $1 seconds by
-- the database's clock, or everything, because no table keeps the feed any more (is_over).
select f.feed_id, t.feed_id is null as is_over
from feeds f
left join tables t on t.live and t.feed_id = f.feed_id
where f.feed_id > $2::int8
    and (t.feed_id is null or (
        select c.at from changes c where c.feed_id = f.feed_id order by c.number limit 1)
            < now() - $1::int8 * interval '1 second')
order by f.feed_id
limit 1
