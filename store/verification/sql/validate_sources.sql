-- SPDX-License-Identifier: Apache-2.0
-- Source keys as a validation sees them. $1 table ids, $2 partition keys, $3 row keys, $4 buckets:
-- arrays of one length; n is the position in them, from 1. $5: whether to read if the sources are
-- live: absent and dead ones are not, expired ones are until they are deleted. in_flight: the key
-- has an open intent, so its entries may be behind.
select u.n, coalesce(not e.dead, false), coalesce(s.manifest, ''),
    exists (select 1 from intents i where i.table_id = any (array[u.t]) and i.partition_key = u.p and i.row_key = u.r)
    or exists (select from dead_letters where kind = 1) and exists (
        select 1 from dead_letters d
        where d.kind = 1 and d.table_id = any (array[u.t]) and d.partition_key = u.p and d.row_key = u.r and d.index_id = 0
    ) as in_flight
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
left join lateral (
    select x.dead
    from entities x
    where $5::bool and x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b
    offset 0
) e on true
left join index_state s on s.table_id = any (array[u.t]) and s.partition_key = u.p and s.row_key = u.r and s.bucket = u.b
order by u.n
