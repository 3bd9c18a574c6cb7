-- SPDX-License-Identifier: Apache-2.0
-- Record violations: source keys that cannot have an entry in the indexes $5 (index ids), with the
-- causes $6. The state rows are locked.
insert into dead_letters as d
    (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, cause, history)
select 1, u.t, u.p, u.r, u.b, u.i, true, 1, u.c,
    to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' ' || u.c || E'\n'
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::int8[], $6::text[]) u(t, p, r, b, i, c)
on conflict (kind, table_id, partition_key, row_key, index_id, bucket) do update
set dead = true, failures = d.failures + 1, cause = excluded.cause, last_failed = now(),
    history = right(d.history || excluded.history, 4000)
