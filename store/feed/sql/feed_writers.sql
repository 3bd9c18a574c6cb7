-- SPDX-License-Identifier: Apache-2.0
-- The number above which all numbers lie that the open transactions have drawn for feed $1, as
-- feed_lock has announced them; null: there is none. Locks are not part of a snapshot, so they are
-- read once, and joined with themselves: both locks of a transaction have its pid.
with held as materialized (
    select l.pid, l.classid::int8 as class, l.objid::int8 as object, l.objsubid as form
    from pg_locks l
    where l.locktype = 'advisory' and l.database = (select d.oid from pg_database d where d.datname = current_database()))
select min((n.class << 32 | n.object) & 281474976710655)
from held f
join held n on n.pid = f.pid and n.form = 1 and n.class >> 16 = 17765
where f.form = 2 and f.class = 17766 and f.object = ($1::int8 & 2147483647)
