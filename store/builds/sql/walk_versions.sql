-- SPDX-License-Identifier: Apache-2.0
-- The entities of a range of keys and their versions, in key order, read after the state rows were
-- locked (guard G8). $1 table id, from ($2, $3) to ($4, $5), both included.
select e.partition_key, e.row_key, e.version
from entities e
where e.table_id = $1::int8
  and (e.partition_key, e.row_key) >= ($2::text, $3::text)
  and (e.partition_key, e.row_key) <= ($4::text, $5::text)
  and not e.dead
order by e.partition_key, e.row_key
