-- A new transaction, once: no row comes back when there is one of this id. $1 bucket, $2 account, $3 id,
-- $4 steps, $5 timeline, $6 time of submission. It waits for another insert of the same id to be decided.
insert into transactions (bucket, account, txn_id, state, steps, steps_done, timeline, submitted)
values ($1::int2, $2::text, $3::text, 1, $4::bytea, 0, $5::bytea, $6::int8)
on conflict (account, txn_id, bucket) do nothing
returning 1
