-- SPDX-License-Identifier: Apache-2.0
-- Make a transaction that failed too often DEAD (state 6), so that it waits for an operator: $1
-- account, $2 id, $3 bucket. Its row is locked. A transaction that has ended stays as it is.
update transactions set state = 6, revision = revision + 1
where account = $1::text and txn_id = $2::text and bucket = $3::int2 and state in (1, 2)
