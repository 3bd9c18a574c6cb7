-- SPDX-License-Identifier: Apache-2.0
-- Count live rows of a table with keys from ($2, $3) on and below ($4, $5), examining at most $6
-- rows. Returns the number of live rows, the number of examined rows, and the last key of these.
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
