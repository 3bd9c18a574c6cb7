-- SPDX-License-Identifier: Apache-2.0
-- The first statement of a scan's snapshot. $1: the account, $2: how long the session may be idle
-- in this transaction, in milliseconds. Columns: whether the account has no other snapshot, the
-- version of the catalogue, and the database's clock in microseconds.
-- The advisory lock, whose first key is 17767, ends with the transaction, however that ends.
select pg_try_advisory_xact_lock(17767, hashtext($1::text)), c.version,
    (extract(epoch from clock_timestamp()) * 1000000)::int8,
    set_config('idle_in_transaction_session_timeout', $2::int8::text, true)
from catalogue c
