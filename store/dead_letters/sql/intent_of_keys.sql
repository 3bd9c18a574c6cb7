-- SPDX-License-Identifier: Apache-2.0
-- The open intents of source keys, read while their state rows are locked and before the sources
-- are read (guard G9): $1 table ids, $2 partition keys, $3 row keys, $4 buckets, $5 the kind. n is
-- the position in the arrays, from 1. Uses the index intents_key.
select u.n::int8, i.id
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        generate_subscripts($1::int8[], 1) as n
) u
cross join lateral (
    select x.id
    from intents x
    where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b and x.kind = $5::int2
    offset 0
) i
