-- Source keys as validation sees them. $1 table ids, $2 partition keys, $3 row keys, $4 buckets: arrays of one
-- length; n is the position in them, from 1. in_flight: something is open for the key, so that its entries
-- may be behind. $5: whether properties are wanted. Absent and dead sources have live = false; those that are due are live until they are deleted.
select u.n, coalesce(not e.dead, false), coalesce(e.ts, 0), case when $5::bool then coalesce(e.properties, '') else '' end, coalesce(s.manifest, ''),
    exists (select 1 from intents i where i.table_id = any (array[u.t]) and i.partition_key = u.p and i.row_key = u.r)
    or exists (
        select 1 from dead_letters d
        where d.kind = 1 and d.table_id = any (array[u.t]) and d.partition_key = u.p and d.row_key = u.r and d.index_id = 0
    ) as in_flight,
    coalesce(e.expires, 0)
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
left join entities e on e.table_id = any (array[u.t]) and e.partition_key = u.p and e.row_key = u.r and e.bucket = u.b
left join index_state s on s.table_id = any (array[u.t]) and s.partition_key = u.p and s.row_key = u.r and s.bucket = u.b
order by u.n
