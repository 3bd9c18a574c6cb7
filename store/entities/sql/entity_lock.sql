-- SPDX-License-Identifier: Apache-2.0
-- Lock or create (guard G4): a row that exists is locked and not changed, and an absent one is
-- inserted with the values given. Arrays of one length, sorted by key, each key once. Returns the
-- keys that were absent, in the order of the arrays.
insert into entities (table_id, partition_key, row_key, bucket, version, ts, dead, properties, expires)
select t, p, r, b, v, ts, d, x, nullif(e, 0)
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::int8[], $6::int8[], $7::bool[], $8::bytea[], $9::int8[])
    u(t, p, r, b, v, ts, d, x, e)
on conflict (table_id, partition_key, row_key, bucket) do update set dead = entities.dead where false
returning table_id, partition_key, row_key
