-- SPDX-License-Identifier: Apache-2.0
-- Which of the feeds $1 have changes behind the numbers $2 that a page would show, end before these
-- numbers (the database was restored), or belong to no table any more. n: the position in the
-- arrays, from 1. A page shows no number above those of open transactions: feed_writers.
with held as materialized (
    select l.pid, l.classid::int8 as class, l.objid::int8 as object, l.objsubid as form
    from pg_locks l
    where l.locktype = 'advisory' and l.database = (select d.oid from pg_database d where d.datname = current_database())),
open as (
    select f.object as feed, min((n.class << 32 | n.object) & 281474976710655) as bound
    from held f
    join held n on n.pid = f.pid and n.form = 1 and n.class >> 16 = 17765
    where f.form = 2 and f.class = 17766
    group by f.object)
select u.n
from unnest($1::int8[], $2::int8[]) with ordinality u(f, s, n)
left join feeds f on f.feed_id = u.f
left join open o on o.feed = (u.f & 2147483647)
where greatest((select c.number from changes c where c.feed_id = u.f
                    and c.number <= coalesce(o.bound, 9223372036854775807) order by c.number desc limit 1), f.floor) > u.s
    or greatest((select c.number from changes c where c.feed_id = u.f order by c.number desc limit 1), f.floor) < u.s
    or not exists (select 1 from tables t where t.live and t.feed_id = u.f)
