-- SPDX-License-Identifier: Apache-2.0
-- Delete rows: those that entity_lock has created in vain, and entries that are no longer needed.
delete from entities e
using (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b
) u
where e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
