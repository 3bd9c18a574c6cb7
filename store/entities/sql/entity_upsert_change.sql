-- SPDX-License-Identifier: Apache-2.0
-- As entity_upsert_blind, for tables with a change feed, which needs the previous state of each
-- row. The third column is the version of the row in the statement's snapshot: negative if that row
-- is dead, null if there was none. If another transaction has written the row since the snapshot,
-- the returned version does not follow from this one (guard G45).
insert into entities as e (table_id, partition_key, row_key, bucket, version, ts, properties)
select u.t, u.p, u.r, u.b, $7::int8 + 1, u.ts, u.x
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::int8[], $6::bytea[]) u(t, p, r, b, ts, x)
where $8::int8 = (select version from catalogue)
on conflict (table_id, partition_key, row_key, bucket) do update
set version = greatest(e.version, $7::int8) + 1, ts = greatest(e.ts + 1, excluded.ts), dead = false,
    expires = null, properties = excluded.properties
returning version, ts, (
    select case when o.dead then -o.version else o.version end
    from entities o
    where o.table_id = e.table_id and o.partition_key = e.partition_key and o.row_key = e.row_key and o.bucket = e.bucket)
