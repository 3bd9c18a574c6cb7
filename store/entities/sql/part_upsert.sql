-- SPDX-License-Identifier: Apache-2.0
-- Insert or replace parts whose entities' rows this transaction has locked, each once. $5: the first
-- names, $6: how many properties, $7: the properties, $8: the ids of the
-- contents of blobs that these hold (guard G74).
insert into entity_parts (table_id, partition_key, row_key, bucket, first_name, property_count, properties, contents)
select u.t, u.p, u.r, u.b, u.f, u.c::int4, u.x, nullif(u.h, '')
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($5::text[]) as f, unnest($6::int8[]) as c, unnest($7::bytea[]) as x, unnest($8::bytea[]) as h
) u
on conflict (table_id, partition_key, row_key, first_name, bucket) do update
set property_count = excluded.property_count, properties = excluded.properties, contents = excluded.contents
