-- SPDX-License-Identifier: Apache-2.0
-- As transaction_list, for the transactions in state $4. By transactions_state.
select txn_id, state, steps_done, submitted, revision
from transactions
where account = $1::text and state = $4::int2 and txn_id > $2::text
order by txn_id
limit $3::int8
