-- SPDX-License-Identifier: Apache-2.0
-- Insert or replace parts whose entities' rows this transaction has locked, each once. $5: the first
-- names, $6: how many properties, $7: the properties, $8: the ids of the
-- contents of blobs that these hold (guard G74).
insert into entity_parts (table_id, partition_key, row_key, bucket, first_name, property_count, properties, contents)
select u.t, u.p, u.r, u.b, u.f, u.c::int4, u.x, nullif(u.h, '')
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::text[], $6::int8[], $7::bytea[], $8::bytea[])
    u(t, p, r, b, f, c, x, h)
on conflict (table_id, partition_key, row_key, first_name, bucket) do update
set property_count = excluded.property_count, properties = excluded.properties, contents = excluded.contents
