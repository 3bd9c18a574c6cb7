-- SPDX-License-Identifier: Apache-2.0
-- Index state rows of a table in key order, and whether their source lives. $1 table id, from ($2, $3) on, or strictly behind
-- it when $4; $5 how many. By the primary keys.
select s.partition_key, s.row_key, coalesce(not e.dead, false)
from (
    select x.partition_key, x.row_key, x.bucket
    from index_state x
    where x.table_id = $1::int8
      and (x.partition_key, x.row_key) >= ($2::text, $3::text)
      and (not $4::bool or (x.partition_key, x.row_key) > ($2::text, $3::text))
    order by x.partition_key, x.row_key
    limit $5::int8
) s
left join lateral (
    select y.dead
    from entities y
    where y.table_id = $1::int8 and y.partition_key = s.partition_key and y.row_key = s.row_key and y.bucket = s.bucket
    offset 0
) e on true
order by s.partition_key, s.row_key
