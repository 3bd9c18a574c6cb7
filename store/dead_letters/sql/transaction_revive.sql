-- SPDX-License-Identifier: Apache-2.0
-- Make a DEAD transaction (state 6) PENDING (1) or, if steps are done, RUNNING (2): $1 account, $2
-- id, $3 bucket. No row: the transaction is not DEAD.
update transactions
set state = case when steps_done > 0 then 2 else 1 end, finished = 0, revision = revision + 1
where account = $1::text and txn_id = $2::text and bucket = $3::int2 and state = 6
returning 1
