-- SPDX-License-Identifier: Apache-2.0
-- Which of these rows other transactions have locked: their places in the arrays. An absent row counts as free.
-- The free ones are locked without waiting, so the statement runs in a transaction that is rolled back at once.
select u.n
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
join entities e on e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
left join lateral (
    select true as free
    from entities f
    where f.table_id = e.table_id and f.partition_key = e.partition_key and f.row_key = e.row_key and f.bucket = e.bucket
    for no key update skip locked) locked on true
where locked.free is null
