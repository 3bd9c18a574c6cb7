-- SPDX-License-Identifier: Apache-2.0
-- The work that follows a write, and its state.

-- An intent is open while its row exists; the row is deleted with the work. Rows are never updated.
create table intents (
    bucket        smallint not null,                 -- of the source key
    id            uuid     not null,                 -- microseconds of the database's clock, origin, counter
    kind          smallint not null,
    table_id      bigint   not null,
    partition_key text     collate "C" not null,
    row_key       text     collate "C" not null,
    version       bigint   not null,
    primary key (bucket, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index intents_key on intents (table_id, partition_key, row_key);

-- One row per source key that has entries. The transaction that holds the row's lock decides which
-- entries the key has.
create table index_state (
    bucket        smallint not null,
    table_id      bigint   not null,
    partition_key text     collate "C" not null,
    row_key       text     collate "C" not null,
    applied       bigint   not null,                 -- version of the source the entries were made from
    manifest      bytea    not null,                 -- the entries: index, key, digest
    primary key (table_id, partition_key, row_key, bucket)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);

-- Work that fails: a RETRYING row has open intents, a DEAD row has replaced them.
create table dead_letters (
    bucket        smallint not null,
    kind          smallint not null,
    table_id      bigint   not null,
    partition_key text     collate "C" not null,
    row_key       text     collate "C" not null,
    index_id      bigint   not null,                 -- 0: the key as a whole
    dead          boolean  not null,
    failures      integer  not null,
    next_try      timestamptz not null default now(),
    cause         text     not null,
    history       text     not null,
    first_failed  timestamptz not null default now(),
    last_failed   timestamptz not null default now(),
    primary key (kind, table_id, partition_key, row_key, index_id, bucket)
);

create table indexes (
    index_id        bigint   primary key,            -- of this build, and of its entries' table
    source_table_id bigint   not null,
    account         text     collate "C" not null,
    name            text     collate "C" not null,
    folded          text     collate "C" not null,
    state           smallint not null,
    definition      bytea    not null,
    violations      bigint   not null default 0,
    operation_id    text     not null
);
create unique index indexes_name on indexes (account, folded) where state <> 4; -- a drop frees the name at once

-- Long-running operations. Any worker can carry out the work of a row.
create table operations (
    operation_id     text     primary key,
    account          text     collate "C" not null,
    kind             text     not null,
    target           text     not null,
    state            smallint not null,
    done             bigint   not null default 0,
    total            bigint   not null default 0,
    started          bigint   not null,
    ended            bigint   not null default 0,
    error            text     not null default '',
    table_id         bigint   not null,              -- the source table, or the one to purge
    index_id         bigint   not null default 0,
    phase            smallint not null default 0,    -- builds: 0 walks, 1, 3, 5 validate the source, 2, 4, 6 the entries
    has_cursor       boolean  not null default false,
    cursor_partition text     collate "C" not null default '',
    cursor_row       text     collate "C" not null default '',
    faults           bigint   not null default 0,    -- differences found in this pass
    owner            text     not null default '',   -- the worker that carries it out, until then
    until            timestamptz not null default '-infinity'
);
create index operations_running on operations (operation_id) where state = 1;

-- Which worker relays and polls a range of buckets. This spreads the work; correctness does not
-- depend on it.
create table leases (
    lane  smallint primary key,
    owner text not null,
    until timestamptz not null
);
insert into leases select lane, '', now() from generate_series(0, 15) lane;

-- The time up to which everything acknowledged has been applied, per bucket range, as the relay has
-- stored it last.
create table watermarks (
    lane         smallint primary key,
    as_of        bigint not null,                    -- ticks
    open_intents bigint not null
);
insert into watermarks select lane, 0, 0 from generate_series(0, 15) lane;
