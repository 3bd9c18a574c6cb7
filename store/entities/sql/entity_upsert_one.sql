-- SPDX-License-Identifier: Apache-2.0
-- As entity_upsert_blind, for one key without arrays. $1 table id, $2 partition key, $3 row key,
-- $4 bucket, $5 time, $6 properties, $7 the floor, $8 the catalogue's version as the writer knows it
-- (guard G1).
insert into entities as e (table_id, partition_key, row_key, bucket, version, ts, properties)
select $1::int8, $2::text, $3::text, $4::int2, $7::int8 + 1, $5::int8, $6::bytea
where $8::int8 = (select version from catalogue)
on conflict (table_id, partition_key, row_key, bucket) do update
set version = greatest(e.version, $7::int8) + 1, ts = greatest(e.ts + 1, excluded.ts), dead = false,
    expires = null, properties = excluded.properties
returning version, ts, ctid
