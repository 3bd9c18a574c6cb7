-- SPDX-License-Identifier: Apache-2.0
-- Work that was begun and never reported: the worker may have died because of it.

-- How often work on a key has begun outside of a batch since its last report. Failures are counted
-- separately.
alter table dead_letters add column deliveries integer not null default 0;

-- The batch that a polling consumer is about to work on. If the consumer dies, its row stays. For
-- messages of Redis, Redis counts the deliveries.
create table in_hand (
    holder  text        not null, -- a consumer
    life    text        not null, -- one start of it
    until   timestamptz not null, -- renewed while the consumer lives
    buckets smallint[]  not null, -- of the intents
    ids     uuid[]      not null,
    primary key (holder, life)
);
