-- SPDX-License-Identifier: Apache-2.0
-- Insert changes, committed with the writes that make them; they are numbered in the order of the
-- arrays. Runs after feed_lock (guard G47). $1 feeds, $2 kinds, $3 partition keys, $4 row keys, $5
-- versions, $6 ts, $7 expires, $8 properties.
insert into changes (feed_id, number, kind, partition_key, row_key, version, ts, expires_at, properties)
select u.f, nextval('change_numbers'), u.k, u.p, u.r, u.v, u.ts, u.e, u.x
from unnest($1::int8[], $2::int2[], $3::text[], $4::text[], $5::int8[], $6::int8[], $7::int8[], $8::bytea[])
    u(f, k, p, r, v, ts, e, x)
