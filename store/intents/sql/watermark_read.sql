-- SPDX-License-Identifier: Apache-2.0
-- The time up to which everything acknowledged has been applied (ticks; 0: no worker has stored it,
-- or the time of a bucket range lies ahead of the clock, guard G30), the number of open intents,
-- and the database's clock in microseconds since 1970.
select case when max(w.as_of) <= (clock.us + 11644473600000000) * 10 then min(w.as_of) else 0 end,
    sum(w.open_intents)::int8, clock.us
from watermarks w
cross join (select (extract(epoch from clock_timestamp()) * 1000000)::int8 as us) clock
group by clock.us
