-- SPDX-License-Identifier: Apache-2.0
-- End the builds of a deleted table's indexes.
update operations set state = 5, ended = $2::int8
where kind in ('build', 'replace_index') and state in (1, 2)
  and index_id in (select index_id from indexes where source_table_id = $1::int8)
