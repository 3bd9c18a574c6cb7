-- SPDX-License-Identifier: Apache-2.0
-- The entities, and the rows that every writing transaction locks or writes.

-- One row per entity, live or dead. Entries of indexes are rows too, under their index's table id.
-- Keys are compared by bytes. `properties` has the bytes of a reply, which a read copies, so it is
-- not compressed. There is no index on version or ts, since it would prevent HOT updates of all
-- rows.
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

-- Always empty: the table is only locked. Writers share the lock, and a change of the catalogue
-- takes it exclusively (guard G1).
create table write_fence (bucket smallint primary key);

-- One row. floor: no version at or below it is given out any more. epoch: every fail-over raises
-- it.
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

-- Ids of tables and of index builds; an id is never reused.
create sequence table_ids;

create table tables (
    table_id bigint  primary key,
    account  text    collate "C" not null,
    name     text    collate "C" not null,
    folded   text    collate "C" not null,           -- lower case: names are compared without case
    created  bigint  not null,
    live     boolean not null,
    index_id bigint                                   -- of the index whose entries the table holds
);
create unique index tables_name on tables (account, folded) where live;

-- One marker per writing transaction: it shows whether a COMMIT whose answer was lost took effect
-- (guard G6).
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
