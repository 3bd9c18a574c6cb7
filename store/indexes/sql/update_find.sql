-- SPDX-License-Identifier: Apache-2.0
-- The operation that is making index $1 a strong one; the columns are those of an operation.
select operation_id, kind, target, state, done, total, started, ended, error
from operations
where kind = 'update_index' and index_id = $1::int8 and state in (1, 2)
