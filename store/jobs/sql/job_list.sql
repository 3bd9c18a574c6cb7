-- SPDX-License-Identifier: Apache-2.0
-- An account's operations in the order of their ids. $1 account, $2 behind this id, $3 only this id
-- unless it is empty, $4 how many.
select operation_id, kind, target, state, done, total, started, ended, error
from operations
where account = $1::text and operation_id > $2::text and ($3::text = '' or operation_id = $3::text)
order by operation_id
limit $4::int8
