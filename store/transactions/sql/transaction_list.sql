-- SPDX-License-Identifier: Apache-2.0
-- An account's transactions in the order of their ids, without steps and timelines. $1 account, $2
-- behind this id, $3 how many.
select txn_id, state, steps_done, submitted, revision
from transactions
where account = $1::text and txn_id > $2::text
order by txn_id
limit $3::int8
