-- SPDX-License-Identifier: Apache-2.0
-- Delete the state rows of source keys that have no entries. The rows are locked.
delete from index_state s
using (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b
) u
where s.table_id = any (array[u.t]) and s.partition_key = u.p and s.row_key = u.r and s.bucket = u.b
