-- SPDX-License-Identifier: Apache-2.0
-- intent_insert with the traces of the writes: $8, null for a write without one.
insert into intents (table_id, partition_key, row_key, bucket, id, kind, version, trace)
select * from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::uuid[], $6::int2[], $7::int8[], $8::bytea[])
returning ctid
