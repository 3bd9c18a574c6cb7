-- SPDX-License-Identifier: Apache-2.0
-- Transactions across partitions. The row with the number of done steps is committed with the
-- effect of each step.
create table transactions (
    bucket     smallint not null,
    account    text     collate "C" not null,
    txn_id     text     collate "C" not null,
    state      smallint not null,
    steps      bytea    not null,                    -- equal steps have equal bytes
    steps_done integer  not null,
    timeline   bytea    not null,
    submitted  bigint   not null,
    finished   bigint   not null default 0,
    primary key (account, txn_id, bucket)
);
create index transactions_finished on transactions (finished) where finished > 0;
