-- SPDX-License-Identifier: Apache-2.0
-- Insert changes, committed with the writes that make them; they are numbered in the order of the
-- arrays. Runs after feed_lock (guard G47). $1 feeds, $2 kinds, $3 partition keys, $4 row keys, $5
-- versions, $6 ts, $7 expires, $8 properties.
insert into changes (feed_id, number, kind, partition_key, row_key, version, ts, expires_at, properties)
select u.f, nextval('change_numbers'), u.k, u.p, u.r, u.v, u.ts, u.e, u.x
from (
    select unnest($1::int8[]) as f, unnest($2::int2[]) as k, unnest($3::text[]) as p, unnest($4::text[]) as r,
        unnest($5::int8[]) as v, unnest($6::int8[]) as ts, unnest($7::int8[]) as e, unnest($8::bytea[]) as x
) u
