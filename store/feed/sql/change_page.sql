-- SPDX-License-Identifier: Apache-2.0
-- A page of feed $1 behind number $2, in one snapshot: at most $3 rows and, beyond the first row,
-- no more than about $4 bytes of properties. With $5 all changes have their properties, otherwise
-- only those of partition $6. Each row has the catalogue's version and epoch, the feed's floor (-1:
-- there is no such feed) and the feed's newest number. If there is no change, one row comes back
-- without one.
select c.version, c.epoch, coalesce(f.floor, -1),
    coalesce((select max(n.number) from changes n where n.feed_id = f.feed_id), f.floor, -1),
    x.number, x.kind, x.partition_key, x.row_key, x.version, x.ts, x.expires_at,
    case when x.wanted then x.properties else '' end
from catalogue c
left join feeds f on f.feed_id = $1::int8
left join lateral (
    select p.*, sum(case when p.wanted then octet_length(p.properties) else 0 end)
        over (order by p.number rows between unbounded preceding and 1 preceding) as bytes_before
    from (
        select s.*, $5::bool or s.partition_key = $6::text as wanted
        from changes s
        where s.feed_id = f.feed_id and s.number > $2::int8
        order by s.number
        limit $3::int8) p) x on coalesce(x.bytes_before, 0) < $4::int8
order by x.number
