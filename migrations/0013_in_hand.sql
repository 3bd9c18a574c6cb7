-- SPDX-License-Identifier: Apache-2.0
-- Work that was begun and never reported back: whoever had it may have died of it.

-- How often a key's work has begun, on its own, since it last reported; kept apart from its failures.
alter table dead_letters add column deliveries integer not null default 0;

-- What those who poll are about to do, one row per batch: who dies leaves his behind. Redis counts for the others.
create table in_hand (
    holder  text        not null, -- a consumer
    life    text        not null, -- and which of its lives
    until   timestamptz not null, -- renewed while it lives
    buckets smallint[]  not null, -- of the intents
    ids     uuid[]      not null,
    primary key (holder, life)
);
