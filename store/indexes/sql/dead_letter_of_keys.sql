-- SPDX-License-Identifier: Apache-2.0
-- The dead letters of source keys: n, and the index id (0: of the key as a whole). Kind 1:
-- reconciling. Usually the table has no dead letter at all, and one search shows that for all keys.
select u.n, d.index_id
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
cross join lateral (
    select x.index_id
    from dead_letters x
    where x.kind = 1 and x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b
    offset 0
) d
where exists (select from dead_letters where kind = 1)
