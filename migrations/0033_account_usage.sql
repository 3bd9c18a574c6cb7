-- SPDX-License-Identifier: Apache-2.0
-- What accounts hold, as of the last count, and what they may hold. Locks accounts (ACCESS EXCLUSIVE) for some milliseconds.

-- Of the account's tables: a worker counts all rows again and again (store/background/usage_count.h).
create table account_usage (
    account  text   collate "C" primary key, -- its id
    entities bigint not null,                -- live rows of its tables
    entries  bigint not null,                -- live rows of its indexes
    bytes    bigint not null                 -- keys and properties of both
);

-- One row. ended: when the last count ended; null: none has.
create table usage_counts (
    one   boolean primary key default true check (one),
    ended timestamptz
);
insert into usage_counts default values;

-- The account's own quotas; null: those of the servers' settings; 0: none.
alter table accounts add column max_entities bigint, add column max_bytes bigint;
