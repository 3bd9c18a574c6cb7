-- SPDX-License-Identifier: Apache-2.0
-- What each worker that is alive has said of itself last, for people. Nothing depends on it. The
-- numbers are of the time since the worker started.
-- programs: 36
-- locks: none
create table workers (
    name         text        collate "C" primary key,
    started_at   timestamptz not null,
    reported_at  timestamptz not null,
    threads      integer     not null,
    leases       integer     not null, -- bucket ranges that it relays
    claimed_keys integer     not null, -- that its consumers work on
    reconciled   bigint      not null, -- keys
    stepped      bigint      not null, -- steps of transactions
    retried      bigint      not null,
    buried       bigint      not null  -- dead letters
) with (fillfactor = 50);
