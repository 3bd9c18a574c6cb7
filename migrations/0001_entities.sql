-- SPDX-License-Identifier: Apache-2.0
-- Entities, and what every writing transaction locks or writes.

-- One row per entity, live or dead; entries of indexes are rows too, under their index's table id.
-- Keys compare by bytes. properties are stored as they stand in a reply, so they are not compressed:
-- a read copies them. No index on version or ts: each would end HOT updates for all rows.
create table entities (
    bucket        smallint not null,
    table_id      bigint   not null,
    partition_key text     collate "C" not null,
    row_key       text     collate "C" not null,
    version       bigint   not null,
    ts            bigint   not null,                 -- 100 ns ticks since 1601
    dead          boolean  not null default false,
    expires       bigint,
    properties    bytea    not null,
    primary key (table_id, partition_key, row_key, bucket)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
alter table entities alter column properties set storage external;
create index entities_dead on entities (bucket) where dead;

-- Always empty; exists to be locked: writers share it, catalogue changes take it alone (guard G1).
create table write_fence (bucket smallint primary key);

-- One row. floor: no version at or below it is ever given out again. epoch: raised by every fail-over.
create table catalogue (
    one       boolean primary key default true check (one),
    version   bigint not null,
    floor     bigint not null,
    epoch     bigint not null,
    system_id bigint not null,
    timeline  bigint not null
);
insert into catalogue (version, floor, epoch, system_id, timeline)
select 1, 0, 0, s.system_identifier, c.timeline_id from pg_control_system() s, pg_control_checkpoint() c;

-- Ids of tables and of index builds: never reused.
create sequence table_ids;

create table tables (
    table_id bigint  primary key,
    account  text    collate "C" not null,
    name     text    collate "C" not null,
    folded   text    collate "C" not null,           -- lower case: names are compared without case
    created  bigint  not null,
    live     boolean not null,
    index_id bigint                                   -- set where it holds an index's entries
);
create unique index tables_name on tables (account, folded) where live;

-- One marker per write transaction: it shows whether a commit whose answer was lost took effect (guard G6).
create table commits (
    bucket smallint not null,
    lane   bigint   not null,
    n      bigint   not null,
    at     timestamptz not null default now(),
    primary key (bucket, lane, n)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Secrets that all servers of one database share.
create table secrets (
    name  text primary key,
    value bytea not null
);
insert into secrets values
    ('token_key', decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
