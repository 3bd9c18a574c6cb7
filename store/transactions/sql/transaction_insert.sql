-- SPDX-License-Identifier: Apache-2.0
-- Insert a transaction; no row comes back if the id exists. $1 bucket, $2 account, $3 id, $4 steps,
-- $5 timeline, $6 time of submission, $7 digests of the keys that its steps name. If another
-- transaction is inserting the same id, the statement waits for it.
with inserted as (
    insert into transactions (bucket, account, txn_id, state, steps, steps_done, timeline, submitted, key_digests)
    values ($1::int2, $2::text, $3::text, 1, $4::bytea, 0, $5::bytea, $6::int8, $7::int8[])
    on conflict (account, txn_id, bucket) do nothing
    returning 1),
keys as (
    insert into transaction_keys (bucket, account, digest, txn_id)
    select $1::int2, $2::text, d, $3::text from inserted, unnest($7::int8[]) d
    order by d)
select 1 from inserted
