-- SPDX-License-Identifier: Apache-2.0
-- Counts live rows of a table: keys from ($2, $3) on and below ($4, $5), looking at $6 rows at most: how many live,
-- how many were looked at, and the last key of them.
with page as materialized (
    select e.partition_key, e.row_key, e.dead or is_due(e.expires) as dead
    from entities e
    where e.table_id = $1::int8
      and (e.partition_key, e.row_key) >= ($2::text, $3::text)
      and (e.partition_key, e.row_key) < ($4::text, $5::text)
    order by e.partition_key, e.row_key
    limit $6::int8
)
select s.live, s.examined, l.partition_key, l.row_key
from (select count(*) filter (where not p.dead) as live, count(*) as examined from page p) s
left join lateral (select p.partition_key, p.row_key from page p offset greatest(s.examined - 1, 0)) l on true
