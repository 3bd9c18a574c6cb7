-- SPDX-License-Identifier: Apache-2.0
-- Every index that is not gone.
select index_id, source_table_id, account, name, state, definition, violations, operation_id, coalesce(replaces, 0)
from indexes
