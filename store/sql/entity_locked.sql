-- The rows just locked, read in a later statement (guard G5), and where they stand. $5: whose properties are
-- wanted.
select u.n, e.version, e.ts, e.dead, case when u.w then e.properties else '' end, coalesce(e.expires, 0),
    is_due(e.expires), e.ctid
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::bool[]) with ordinality u(t, p, r, b, w, n)
join entities e on e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
