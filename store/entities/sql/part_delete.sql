-- SPDX-License-Identifier: Apache-2.0
-- Delete parts whose entities' rows this transaction has locked. $5: the first names.
delete from entity_parts p
using (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($5::text[]) as f
) u
where p.table_id = any (array[u.t]) and p.partition_key = u.p and p.row_key = u.r and p.bucket = u.b and p.first_name = u.f
