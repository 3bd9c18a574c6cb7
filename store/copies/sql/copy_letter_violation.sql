-- SPDX-License-Identifier: Apache-2.0
-- Record dependents that cannot have their copies: $1 index ids of the rules, $2 partition keys, $3 row keys, $4
-- buckets, $5 the causes. Kind 3: copying, with the index's id as the table id too. The dependents are locked.
insert into dead_letters as d
    (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, cause, history)
select 3, u.t, u.p, u.r, u.b, u.t, true, 1, u.c,
    to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' ' || u.c || E'\n'
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::text[]) u(t, p, r, b, c)
on conflict (kind, table_id, partition_key, row_key, index_id, bucket) do update
set dead = true, failures = d.failures + 1, cause = excluded.cause, last_failed = now(),
    history = right(d.history || excluded.history, 4000)
