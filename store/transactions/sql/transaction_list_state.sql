-- SPDX-License-Identifier: Apache-2.0
-- Those in one state, $4; otherwise as transaction_list. By transactions_state.
select txn_id, state, steps_done, submitted, revision
from transactions
where account = $1::text and state = $4::int2 and txn_id > $2::text
order by txn_id
limit $3::int8
