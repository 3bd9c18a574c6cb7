-- SPDX-License-Identifier: Apache-2.0
-- The move of chunks that has not ended: its account, its target, and the operation as job_list returns it. Uses
-- operations_chunk_move.
select account, operation_id, kind, target, state, done, total, started, ended, error
from operations where kind = 'move_chunks' and state in (1, 2)
