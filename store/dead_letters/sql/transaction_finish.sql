-- SPDX-License-Identifier: Apache-2.0
-- End a DEAD transaction that was discarded, so that it is deleted after the retention: $1 account,
-- $2 id, $3 bucket, $4 now in ticks.
update transactions
set finished = $4::int8
where account = $1::text and txn_id = $2::text and bucket = $3::int2 and state = 6
returning 1
