-- SPDX-License-Identifier: Apache-2.0
-- Make the dead letter of a key DEAD: $1 kind, $2 table id, $3 partition key, $4 row key, $5
-- bucket, $6 the ids of the intents that it replaces, of which the latest ten thousand are kept.
insert into dead_letters as d
    (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, cause, history, intents)
values ($1::int2, $2::int8, $3::text, $4::text, $5::int2, 0, true, 0, 'given up without a counted failure', '',
    $6::uuid[])
on conflict (kind, table_id, partition_key, row_key, index_id, bucket) do update
set dead = true, discarded = false, next_try = now(),
    intents = array(select i from unnest(d.intents || excluded.intents) i order by i desc limit 10000),
    last_dropped_intent = coalesce(
        (select i from unnest(d.intents || excluded.intents) i order by i desc offset 10000 limit 1), d.last_dropped_intent)
