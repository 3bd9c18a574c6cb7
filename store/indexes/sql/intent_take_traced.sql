-- SPDX-License-Identifier: Apache-2.0
-- intent_take for a worker that sends spans: each intent with its id, and its trace or null. The
-- same guard (G9), the same index intents_key.
delete from intents i
using unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
cross join lateral (
    select x.ctid as intent_ctid
    from intents x
    where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b and x.kind = $5::int2
    offset 0
) found
where i.ctid = found.intent_ctid
returning u.n, i.id, i.trace
