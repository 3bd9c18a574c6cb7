-- SPDX-License-Identifier: Apache-2.0
-- The change feed: the changes of entities in the order of their commits, for tables that have a
-- feed.

-- One row per feed. If a feed is switched off and on again, it is another feed. A transaction that
-- writes changes locks the row until its end; the lock leaves no dead row behind. floor: changes up
-- to this number were purged.
create table feeds (
    feed_id  bigint primary key,                     -- from table_ids: never reused
    table_id bigint not null,
    floor    bigint not null default 0
);
alter table tables add column feed_id bigint;        -- null: no feed
create unique index tables_feed on tables (feed_id) where feed_id is not null;

-- Drawn while the feed's row is locked, so within one feed the order of numbers is the order of
-- commits. Writes that were rolled back leave gaps.
create sequence change_numbers cache 1;

-- Rows are appended, read in order, and removed when they are old.
create table changes (
    feed_id       bigint   not null,
    number        bigint   not null,
    at            timestamptz not null default now(),
    kind          smallint not null,
    partition_key text     collate "C" not null,
    row_key       text     collate "C" not null,
    version       bigint   not null,
    ts            bigint   not null,
    expires       bigint   not null,                 -- ticks; 0: never
    properties    bytea    not null,                 -- after the change
    primary key (feed_id, number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000);
alter table changes alter column properties set storage external;
