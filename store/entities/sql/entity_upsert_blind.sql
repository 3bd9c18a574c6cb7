-- SPDX-License-Identifier: Apache-2.0
-- Unconditional upserts, whose writer need not know what is stored: one statement, which reads nothing first.
-- Arrays sorted by key, each key once; $9: of how many upserts of the key this is the last, each of
-- which has a version and a time of its own. $7: the floor. $8: the catalogue's version as the writer
-- knows it. Returns a row for each key, in the order of the arrays. If the catalogue has another
-- version, nothing is written and no row comes back: the condition is evaluated once, in the
-- statement's snapshot, which is later than the fence (guard G1).
insert into entities as e (table_id, partition_key, row_key, bucket, version, ts, properties)
select u.t, u.p, u.r, u.b, $7::int8 + u.n, u.ts, u.x
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($5::int8[]) as ts, unnest($6::bytea[]) as x, unnest($9::int8[]) as n
) u
where $8::int8 = (select version from catalogue)
on conflict (table_id, partition_key, row_key, bucket) do update
set version = greatest(e.version, $7::int8) + excluded.version - $7::int8,
    ts = greatest(e.ts + excluded.version - $7::int8, excluded.ts), dead = false, expires = null,
    properties = excluded.properties
returning version, ts, ctid
