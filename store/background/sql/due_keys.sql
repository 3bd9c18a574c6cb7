-- SPDX-License-Identifier: Apache-2.0
-- Entities whose time has come, the longest due first; $1 at most. By entities_expires. Entries of indexes go with
-- their sources.
select t.account, t.name, t.table_id, e.partition_key, e.row_key
from entities e
join tables t on t.table_id = any (array[e.table_id]) and t.live and t.index_id is null
where is_due(e.expires)
order by e.expires
limit $1::int8
