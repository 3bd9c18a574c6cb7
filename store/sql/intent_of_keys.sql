-- The open intents of source keys, read under the lock of their state rows and before the sources (guard G9).
-- n is the position in the arrays, from 1; $5 the kind. By intents_key.
select u.n, i.id
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
join intents i on i.table_id = u.t and i.partition_key = u.p and i.row_key = u.r and i.bucket = u.b
where i.kind = $5::int2
