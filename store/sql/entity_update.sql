-- Write rows that this transaction has locked.
update entities e
set version = u.v, ts = u.ts, dead = u.d, expires = nullif(u.e, 0), properties = u.x
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::int8[], $6::int8[], $7::bool[], $8::bytea[],
    $9::int8[]) u(t, p, r, b, v, ts, d, x, e)
where e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
