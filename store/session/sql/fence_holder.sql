-- SPDX-License-Identifier: Apache-2.0
-- The oldest transaction inside the write fence. Columns: program, state, what it waits for ("":
-- nothing), age in milliseconds. No row: there is none, or its age is unknown.
select a.application_name, coalesce(a.state, ''), coalesce(a.wait_event, ''),
    (extract(epoch from clock_timestamp() - a.xact_start) * 1000)::int8
from pg_locks l
join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'relation' and l.relation = 'write_fence'::regclass and l.granted
    and l.database = (select oid from pg_database where datname = current_database())
    and l.pid <> pg_backend_pid() and a.xact_start is not null
order by a.xact_start
limit 1
