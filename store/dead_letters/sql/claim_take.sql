-- SPDX-License-Identifier: Apache-2.0
-- Store the batch that a consumer is about to work on, instead of its previous one: $1 consumer, $2
-- start, $3 how many milliseconds the claim lasts; of each intent its bucket $4, id $5, kind $6,
-- table id $7, partition key $8, row key $9. Returns the positions, from 1, of the intents whose
-- keys are suspects: work on them began before and was never reported.
with taken as (
    insert into claims (consumer, start_id, expires_at, buckets, ids)
    values ($1::text, $2::text, now() + $3::int8 * interval '1 millisecond', $4::int2[], $5::uuid[])
    on conflict (consumer, start_id) do update set expires_at = excluded.expires_at, buckets = excluded.buckets, ids = excluded.ids
    returning 1)
select u.n::int8
from taken
cross join (
    select unnest($4::int2[]) as b, unnest($6::int2[]) as k, unnest($7::int8[]) as t, unnest($8::text[]) as p,
        unnest($9::text[]) as r, generate_subscripts($4::int2[], 1) as n
) u
cross join lateral (
    select 1
    from dead_letters d
    where d.kind = u.k and d.table_id = u.t and d.partition_key = u.p and d.row_key = u.r and d.index_id = 0
        and d.bucket = u.b and d.deliveries > 0
    offset 0) suspect
