-- SPDX-License-Identifier: Apache-2.0
-- Cancel operation $1, unless it has ended. $2 now.
update operations set state = 5, ended = $2::int8 where operation_id = $1::text and state in (1, 2)
