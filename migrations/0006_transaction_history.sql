-- SPDX-License-Identifier: Apache-2.0
-- Transactions: who touched a key, what is in which state, and a number that grows with every change.

-- revision: so that who watches knows news from old. touched: digests of the keys its steps name.
alter table transactions
    add column revision bigint not null default 0,
    add column touched bigint[] not null default '{}';
create index transactions_state on transactions (account, state, txn_id);

-- "What touched this entity?" A digest per key a step names; written with the transaction, gone with it.
create table transaction_keys (
    bucket  smallint not null,                       -- of the transaction
    account text     collate "C" not null,
    digest  bigint   not null,
    txn_id  text     collate "C" not null,
    primary key (account, digest, txn_id, bucket)
);
