-- SPDX-License-Identifier: Apache-2.0
-- intent_insert with the traces of the writes: $8, null for a write without one.
insert into intents (table_id, partition_key, row_key, bucket, id, kind, version, trace)
select unnest($1::int8[]), unnest($2::text[]), unnest($3::text[]), unnest($4::int2[]), unnest($5::uuid[]),
    unnest($6::int2[]), unnest($7::int8[]), unnest($8::bytea[])
returning ctid
