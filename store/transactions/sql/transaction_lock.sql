-- SPDX-License-Identifier: Apache-2.0
-- Lock and read one transaction: the holder of the lock decides its next step (guard G14).
-- Parameters as in transaction_get.
select txn_id, state, steps, steps_done, timeline, submitted, revision, effect
from transactions
where account = $1::text and txn_id = $2::text and bucket = $3::int2
for update
