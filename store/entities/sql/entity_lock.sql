-- SPDX-License-Identifier: Apache-2.0
-- Lock or create (guard G4): a row that exists is locked and not changed, and an absent one is
-- inserted with the values given. Arrays of one length, sorted by key, each key once. Returns the
-- keys that were absent, in the order of the arrays.
insert into entities (table_id, partition_key, row_key, bucket, version, ts, dead, properties, expires)
select t, p, r, b, v, ts, d, x, nullif(e, 0)
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($5::int8[]) as v, unnest($6::int8[]) as ts, unnest($7::bool[]) as d, unnest($8::bytea[]) as x,
        unnest($9::int8[]) as e
) u
on conflict (table_id, partition_key, row_key, bucket) do update set dead = entities.dead where false
returning table_id, partition_key, row_key
