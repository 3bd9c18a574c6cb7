-- Lock or create the state rows of source keys (guard G8): arrays of one length, sorted by key, each key once.
-- A row that is created has applied = 0 until its transaction writes or removes it.
insert into index_state (table_id, partition_key, row_key, bucket, applied, manifest)
select u.t, u.p, u.r, u.b, 0, ''
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) u(t, p, r, b)
on conflict (table_id, partition_key, row_key, bucket) do update set applied = index_state.applied where false
