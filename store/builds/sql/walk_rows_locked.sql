-- SPDX-License-Identifier: Apache-2.0
-- As walk_rows, and the entities are locked one after the other, in key order, as a write locks
-- them. A row that had to be waited for is returned as it is under the lock (guard G35). This
-- statement would see the parts of a spread entity as they were before the lock, so its properties
-- come as null (guard G67).
select e.partition_key, e.row_key, e.version, e.ts, coalesce(e.expires, 0),
    case when e.spread is null and octet_length(e.properties) <= $6::int8 then e.properties end
from entities e
where e.table_id = $1::int8
  and (e.partition_key, e.row_key) >= ($2::text, $3::text)
  and (not $4::bool or (e.partition_key, e.row_key) > ($2::text, $3::text))
  and not e.dead
order by e.partition_key, e.row_key
limit $5::int8
for no key update
