-- SPDX-License-Identifier: Apache-2.0
-- Free the names of a table and of its indexes' tables. Runs inside a change of the catalogue.
update tables set live = false
where table_id = $1::int8 or table_id in (select index_id from indexes where source_table_id = $1::int8)
