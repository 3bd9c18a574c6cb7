-- SPDX-License-Identifier: Apache-2.0
-- Every index in the catalogue, ordered by family.
select source_table_id, index_id, account, name, state, definition, violations, operation_id, coalesce(replaces, 0)
from indexes
order by 1
