-- SPDX-License-Identifier: Apache-2.0
-- Count a failure of a key: $1 kind, $2 table id, $3 partition key, $4 row key, $5 bucket, $6
-- cause. If the dead letter was DEAD, the count begins at 1 again.
insert into dead_letters as d
    (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, cause, history)
values ($1::int2, $2::int8, $3::text, $4::text, $5::int2, 0, false, 1, $6::text,
    to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' ' || $6::text || E'\n')
on conflict (kind, table_id, partition_key, row_key, index_id, bucket) do update
set failures = case when d.dead then 1 else d.failures + 1 end, deliveries = 0, dead = false, discarded = false,
    next_try = now(),
    cause = excluded.cause, last_failed = now(), history = right(d.history || excluded.history, 4000)
returning failures
