-- SPDX-License-Identifier: Apache-2.0
-- The properties of parts whose entities' rows this transaction has locked; n is the position in the
-- arrays, from 1. $5: the first names.
select u.n, p.properties
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::text[]) with ordinality u(t, p, r, b, f, n)
join entity_parts p on p.table_id = any (array[u.t]) and p.partition_key = u.p and p.row_key = u.r and p.bucket = u.b
    and p.first_name = u.f
order by u.n
