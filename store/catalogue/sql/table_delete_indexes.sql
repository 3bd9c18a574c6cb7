-- SPDX-License-Identifier: Apache-2.0
-- All indexes of a deleted table are being dropped.
update indexes set state = 4 where source_table_id = $1::int8
