-- SPDX-License-Identifier: Apache-2.0
-- Start a drop for each index of a deleted table that is not being dropped yet.
insert into operations (operation_id, account, kind, target, state, started, table_id, index_id)
select 'drop-' || to_hex(index_id), account, 'drop_index', name, 1, $2::int8, source_table_id, index_id
from indexes
where source_table_id = $1::int8 and state <> 4
on conflict (operation_id) do nothing
