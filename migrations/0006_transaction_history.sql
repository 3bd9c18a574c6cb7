-- SPDX-License-Identifier: Apache-2.0
-- Transactions: by the keys that their steps name, by state, and with a number that grows with every change.

-- revision: grows with every change, for watches. touched: digests of the keys that the steps name.
alter table transactions
    add column revision bigint not null default 0,
    add column touched bigint[] not null default '{}';
create index transactions_state on transactions (account, state, txn_id);

-- For lists by key: a digest per key that a step names; inserted and deleted with the transaction.
create table transaction_keys (
    bucket  smallint not null,                       -- of the transaction
    account text     collate "C" not null,
    digest  bigint   not null,
    txn_id  text     collate "C" not null,
    primary key (account, digest, txn_id, bucket)
);
