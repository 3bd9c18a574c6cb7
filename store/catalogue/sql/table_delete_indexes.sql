-- SPDX-License-Identifier: Apache-2.0
-- Set all indexes of a deleted table to DROPPING.
update indexes set state = 4 where source_table_id = $1::int8
