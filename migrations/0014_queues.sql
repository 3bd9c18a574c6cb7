-- SPDX-License-Identifier: Apache-2.0
-- Operators' settings of queues, and the rate at which work is done.

-- One row per queue and kind of work that an operator has controlled. works_until: microseconds
-- since 1970; only intents made before this time are worked on; 0: none; null: all. rate: the
-- largest number of intents per second, 0: no limit; credit: how many of them may be worked on at
-- once, as of credited.
create table queue_controls (
    queue       smallint    not null,
    kind        smallint    not null,
    works_until bigint,
    rate        bigint      not null default 0,
    credit      float8      not null default 0,
    credited    timestamptz not null default now(),
    primary key (queue, kind)
);

-- Intents applied per second, as of `at`, weighted with e to the power of -age/10s. A reader
-- applies the decay since `at`.
create table apply_rates (
    table_id   bigint      not null,                 -- of the entities; 0: transactions
    queue      smallint    not null,
    kind       smallint    not null,
    per_second float8      not null,
    at         timestamptz not null,
    primary key (table_id, queue, kind)
);

-- There are few transactions, so a scan for them alone need not read all other intents.
create index intents_transactions on intents (bucket, id) where kind = 2;
