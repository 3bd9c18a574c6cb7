-- SPDX-License-Identifier: Apache-2.0
-- As catalogue_indexes, for the families that have changed since version $1.
select source_table_id, index_id, account, name, state, definition, violations, operation_id, coalesce(replaces, 0)
from indexes
where source_table_id = any (array(select c.family_id from catalogue_changes c where c.version > $1::int8))
order by 1
