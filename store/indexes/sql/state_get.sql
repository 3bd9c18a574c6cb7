-- SPDX-License-Identifier: Apache-2.0
-- The state rows of source keys, without a lock; columns as in state_hold.
select u.n, s.applied, s.manifest, s.ctid, s.entry_ctids
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
join index_state s on s.table_id = any (array[u.t]) and s.partition_key = u.p and s.row_key = u.r and s.bucket = u.b
