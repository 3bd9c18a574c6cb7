-- SPDX-License-Identifier: Apache-2.0
-- Count that work on a key begins, outside of any batch: $1 kind, $2 table id, $3 partition key, $4
-- row key, $5 bucket, $6 text for the history, $7 true: set the count to 1 at least and allow the
-- next try at once; false: raise the count, and allow the next try after ten seconds. If the dead
-- letter was DEAD, the count begins at 1 again.
insert into dead_letters as d
    (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, deliveries, cause, history, next_try)
values ($1::int2, $2::int8, $3::text, $4::text, $5::int2, 0, false, 0, 1, $6::text,
    to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' ' || $6::text || E'\n',
    now() + case when $7::bool then interval '0' else interval '10 seconds' end)
on conflict (kind, table_id, partition_key, row_key, index_id, bucket) do update
set deliveries = case when d.dead then 1 when $7::bool then greatest(d.deliveries, 1) else d.deliveries + 1 end,
    failures = case when d.dead then 0 else d.failures end, dead = false, discarded = false,
    next_try = excluded.next_try, cause = excluded.cause, last_failed = now(),
    history = right(d.history || excluded.history, 4000)
returning deliveries
