-- SPDX-License-Identifier: Apache-2.0
-- Note what a step will do outside the database, before it is done (guard G15). The transaction is RUNNING from now
-- on, so it cannot be cancelled any more. $1 account, $2 id, $3 bucket, $4 the note.
update transactions
set state = 2, effect = $4::bytea, revision = revision + 1
where account = $1::text and txn_id = $2::text and bucket = $3::int2
