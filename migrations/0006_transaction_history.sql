-- SPDX-License-Identifier: Apache-2.0
-- Transactions can be found by the keys that their steps name, and by state, and have a number that
-- grows with every change.

-- revision: grows with every change, so that a watch notices the change. touched: digests of the
-- keys that the steps name.
alter table transactions
    add column revision bigint not null default 0,
    add column touched bigint[] not null default '{}';
create index transactions_state on transactions (account, state, txn_id);

-- For lists by key: one row for each key that a step names, inserted and deleted with the
-- transaction.
create table transaction_keys (
    bucket  smallint not null,                       -- of the transaction
    account text     collate "C" not null,
    digest  bigint   not null,
    txn_id  text     collate "C" not null,
    primary key (account, digest, txn_id, bucket)
);
