-- SPDX-License-Identifier: Apache-2.0
-- intent_take for a worker that sends spans: each intent with its id, and its trace or null. The
-- same guard (G9), the same index intents_key.
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
returning u.n::int8, i.id, i.trace
