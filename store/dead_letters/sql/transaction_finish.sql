-- SPDX-License-Identifier: Apache-2.0
-- A transaction that was given up for good: it is forgotten after the retention. account, id, bucket, $4 now in ticks.
update transactions
set finished = $4::int8
where account = $1::text and txn_id = $2::text and bucket = $3::int2 and state = 6
returning 1
