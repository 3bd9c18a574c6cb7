-- SPDX-License-Identifier: Apache-2.0
-- One transaction. $1 account, $2 id, $3 bucket.
select txn_id, state, steps, steps_done, timeline, submitted, revision
from transactions
where account = $1::text and txn_id = $2::text and bucket = $3::int2
