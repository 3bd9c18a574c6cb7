-- SPDX-License-Identifier: Apache-2.0
-- The time up to which everything acknowledged has been applied (ticks; 0: no worker has stored it,
-- or the time of a bucket range lies ahead of the clock, guard G30), the number of open intents,
-- and the database's clock in microseconds since 1970. Both subqueries have one row, so the clock is
-- read once in any plan; joined to the ranges themselves it may be read, and differ, for each range.
select case when w.newest <= (clock.us + 11644473600000000) * 10 then w.oldest else 0 end, w.open_intents, clock.us
from (
    select max(as_of) as newest, min(as_of) as oldest, sum(open_intents)::int8 as open_intents
    from watermarks) w
cross join (select (extract(epoch from clock_timestamp()) * 1000000)::int8 as us) clock
