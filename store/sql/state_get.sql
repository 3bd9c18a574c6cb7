-- The state rows just locked, read in a later statement (guard G8), and where they stand; n is the position in the
-- arrays, from 1.
select u.n, s.applied, s.manifest, s.ctid
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
join index_state s on s.table_id = any (array[u.t]) and s.partition_key = u.p and s.row_key = u.r and s.bucket = u.b
