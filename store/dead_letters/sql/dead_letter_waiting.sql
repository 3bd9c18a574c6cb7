-- SPDX-License-Identifier: Apache-2.0
-- The positions, from 1, of the intents whose keys have failed and wait for their next retry, as in
-- intent_scan; of each intent its bucket $1, kind $2, table id $3, partition key $4, row key $5. A
-- suspect does not wait: see dead_letter_deliver.
select u.n
from unnest($1::int2[], $2::int2[], $3::int8[], $4::text[], $5::text[]) with ordinality u(b, k, t, p, r, n)
cross join lateral (
    select 1
    from dead_letters d
    where d.kind = u.k and d.table_id = u.t and d.partition_key = u.p and d.row_key = u.r and d.index_id = 0
        and d.bucket = u.b and not d.dead and d.deliveries = 0
        and d.next_try > now() and d.next_try < now() + interval '20 minutes'
    offset 0) waiting
