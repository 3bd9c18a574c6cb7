-- SPDX-License-Identifier: Apache-2.0
-- As entity_count, for partition $2 in bucket $3: row keys from $4 on and below $5.
with page as materialized (
    select e.partition_key, e.row_key, e.dead or is_due(e.expires) as dead
    from entities e
    where e.table_id = $1::int8 and e.partition_key = $2::text and e.bucket = $3::int2
      and e.row_key >= $4::text and e.row_key < $5::text
    order by e.row_key
    limit $6::int8
)
select s.live, s.examined, l.partition_key, l.row_key
from (select count(*) filter (where not p.dead) as live, count(*) as examined from page p) s
left join lateral (select p.partition_key, p.row_key from page p offset greatest(s.examined - 1, 0)) l on true
