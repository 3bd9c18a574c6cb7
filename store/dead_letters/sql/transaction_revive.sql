-- SPDX-License-Identifier: Apache-2.0
-- A transaction that was given up goes on (PENDING 1, RUNNING 2). account, id, bucket. No row: it is not DEAD (6).
update transactions
set state = case when steps_done > 0 then 2 else 1 end, finished = 0, revision = revision + 1
where account = $1::text and txn_id = $2::text and bucket = $3::int2 and state = 6
returning 1
