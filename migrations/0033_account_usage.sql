-- SPDX-License-Identifier: Apache-2.0
-- The usage of accounts as of the last count, and their quotas. accounts is locked (ACCESS
-- EXCLUSIVE) for some milliseconds.

-- The usage of an account: a worker counts all rows again and again
-- (store/background/usage_count.h).
create table account_usage (
    account  text   collate "C" primary key, -- its id
    entities bigint not null,                -- live rows of its tables
    entries  bigint not null,                -- live rows of its indexes
    bytes    bigint not null                 -- keys and properties of both
);

-- One row. ended: when the last count ended; null: no count has ended.
create table usage_counts (
    one   boolean primary key default true check (one),
    ended timestamptz
);
insert into usage_counts default values;

-- The account's own quotas; null: those of the servers' settings; 0: no bound.
alter table accounts add column max_entities bigint, add column max_bytes bigint;
