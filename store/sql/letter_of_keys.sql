-- The dead letters of source keys: n, and the index, 0 for the key as a whole. Kind 1: reconciling.
select u.n, d.index_id
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
join dead_letters d on d.table_id = u.t and d.partition_key = u.p and d.row_key = u.r and d.bucket = u.b
where d.kind = 1
