-- SPDX-License-Identifier: Apache-2.0
-- Delete the open intents of source keys, while their state rows are locked and before the sources
-- are read (guard G9); an intent that commits later stays. $5 the kind. Returns for each intent n,
-- the key's position in the arrays, from 1. By intents_key.
delete from intents i
using unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
cross join lateral (
    select x.ctid as intent_ctid
    from intents x
    where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b and x.kind = $5::int2
    offset 0
) found
where i.ctid = found.intent_ctid
returning u.n
