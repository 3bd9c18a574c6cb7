-- SPDX-License-Identifier: Apache-2.0
-- At most $1 entities that have expired, the longest expired first. By entities_expires. Index
-- entries are not listed: they are deleted with their sources.
select t.account, t.name, t.table_id, e.partition_key, e.row_key
from entities e
join tables t on t.table_id = any (array[e.table_id]) and t.live and t.index_id is null
where is_due(e.expires)
order by e.expires
limit $1::int8
