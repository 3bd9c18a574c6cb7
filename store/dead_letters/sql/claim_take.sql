-- SPDX-License-Identifier: Apache-2.0
-- What a consumer is about to do, in place of what it had before: $1 holder, $2 life, $3 for how many milliseconds;
-- of each intent its bucket $4, id $5, kind $6, table id $7, partition key $8, row key $9. Returns the numbers, from 1,
-- of those whose key has begun before without a report.
with taken as (
    insert into in_hand (holder, life, until, buckets, ids)
    values ($1::text, $2::text, now() + $3::int8 * interval '1 millisecond', $4::int2[], $5::uuid[])
    on conflict (holder, life) do update set until = excluded.until, buckets = excluded.buckets, ids = excluded.ids
    returning 1)
select u.n
from taken
cross join unnest($4::int2[], $6::int2[], $7::int8[], $8::text[], $9::text[]) with ordinality u(b, k, t, p, r, n)
cross join lateral (
    select 1
    from dead_letters d
    where d.kind = u.k and d.table_id = u.t and d.partition_key = u.p and d.row_key = u.r and d.index_id = 0
        and d.bucket = u.b and d.deliveries > 0
    offset 0) suspect
