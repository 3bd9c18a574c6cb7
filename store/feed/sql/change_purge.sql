-- SPDX-License-Identifier: Apache-2.0
-- Remove the oldest changes of feed $1: of its first $3 changes up to number $4 those older than $2
-- seconds, or all of these if $2 is below 0. The floor rises in the same commit, so that a reader
-- that resumes below it gets RESYNC_REQUIRED. Returns the number of deleted rows.
with gone as (
    delete from changes c
    using (
        select number, at from changes
        where feed_id = $1::int8 and number <= $4::int8
        order by number limit $3::int8) old
    where c.feed_id = $1::int8 and c.number = old.number
        and ($2::int8 < 0 or old.at < now() - $2::int8 * interval '1 second')
    returning c.number),
raised as (
    update feeds set floor = greatest(floor, (select max(number) from gone))
    where feed_id = $1::int8 and exists (select 1 from gone))
select count(*) from gone
