-- SPDX-License-Identifier: Apache-2.0
-- The state rows of source keys, without a lock; columns as in state_hold.
select u.n::int8, s.applied, s.manifest, s.ctid, s.entry_ctids
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        generate_subscripts($1::int8[], 1) as n
) u
join index_state s on s.table_id = any (array[u.t]) and s.partition_key = u.p and s.row_key = u.r and s.bucket = u.b
