-- SPDX-License-Identifier: Apache-2.0
-- What a step has come to, in the commit of its effect (guard G14), or that an attempt has failed. $1 account,
-- $2 id, $3 bucket, $4 state, $5 steps done, $6 timeline, $7 when it ended, or 0.
update transactions
set state = $4::int2, steps_done = $5::int4, timeline = $6::bytea, finished = $7::int8, revision = revision + 1
where account = $1::text and txn_id = $2::text and bucket = $3::int2
