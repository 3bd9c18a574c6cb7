-- SPDX-License-Identifier: Apache-2.0
-- Store the result of a step, in the commit of its effect (guard G14), or a failed attempt. $1
-- account, $2 id, $3 bucket, $4 state, $5 number of steps done, $6 timeline, $7 when the
-- transaction ended (0: it has not). What is noted of an effect goes with the end of its step.
update transactions
set state = $4::int2, steps_done = $5::int4, timeline = $6::bytea, finished = $7::int8, revision = revision + 1,
    effect = case when $5::int4 = steps_done and $7::int8 = 0 then effect end
where account = $1::text and txn_id = $2::text and bucket = $3::int2
