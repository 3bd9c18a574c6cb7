-- SPDX-License-Identifier: Apache-2.0
-- Cancel an operation that has not ended. $1 id, $2 now.
update operations set state = 5, ended = $2::int8 where operation_id = $1::text and state in (1, 2)
