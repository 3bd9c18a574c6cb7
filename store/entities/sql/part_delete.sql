-- SPDX-License-Identifier: Apache-2.0
-- Delete parts whose entities' rows this transaction has locked. $5: the first names.
delete from entity_parts p
using unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::text[]) u(t, p, r, b, f)
where p.table_id = any (array[u.t]) and p.partition_key = u.p and p.row_key = u.r and p.bucket = u.b and p.first_name = u.f
