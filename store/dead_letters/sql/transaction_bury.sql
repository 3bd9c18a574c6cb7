-- SPDX-License-Identifier: Apache-2.0
-- A transaction that failed too often waits for a person: state DEAD (6). Its row is locked; one that has ended
-- stays as it is. account, id, bucket.
update transactions set state = 6, revision = revision + 1
where account = $1::text and txn_id = $2::text and bucket = $3::int2 and state in (1, 2)
