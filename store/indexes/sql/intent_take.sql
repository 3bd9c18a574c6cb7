-- SPDX-License-Identifier: Apache-2.0
-- Delete the open intents of source keys, while their state rows are locked and before the sources
-- are read (guard G9); an intent that commits later stays. $5 the kind. Returns for each intent n,
-- the key's position in the arrays, from 1. By intents_key.
delete from intents i
using (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        generate_subscripts($1::int8[], 1) as n
) u
cross join lateral (
    select x.ctid as intent_ctid
    from intents x
    where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b and x.kind = $5::int2
    offset 0
) found
where i.ctid = found.intent_ctid
returning u.n::int8
