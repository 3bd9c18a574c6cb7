-- What the entries of source keys were made from, and which they are (guard G10). The rows are locked.
update index_state s
set applied = u.a, manifest = u.m
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::int8[], $6::bytea[]) u(t, p, r, b, a, m)
where s.table_id = any (array[u.t]) and s.partition_key = u.p and s.row_key = u.r and s.bucket = u.b
