-- SPDX-License-Identifier: Apache-2.0
-- Remove feed $1, which no table keeps any more and which has no change left.
delete from feeds f
where f.feed_id = $1::int8 and not exists (select 1 from changes c where c.feed_id = f.feed_id)
