-- SPDX-License-Identifier: Apache-2.0
-- Reports of operations that verify or repair an index. No existing table is locked.

create table index_reports (
    operation_id    text     primary key,            -- of the operation that writes it
    index_id        bigint   not null,
    repairs         boolean  not null,
    dry_run         boolean  not null,
    is_whole        boolean  not null,               -- the whole index is examined: no keys, no range, no report
    scans           boolean  not null,               -- false: only the differences that it began with are examined
    has_from        boolean  not null,
    from_partition  text     collate "C" not null,
    from_row        text     collate "C" not null,
    has_below       boolean  not null,
    below_partition text     collate "C" not null,
    below_row       text     collate "C" not null,
    last_number     bigint   not null default 0,     -- of a difference
    sources         bigint   not null default 0,     -- examined
    entries         bigint   not null default 0,
    in_flight       bigint   not null default 0,
    missing         bigint   not null default 0,
    dangling        bigint   not null default 0,
    mismatched      bigint   not null default 0,
    manifests       bigint   not null default 0,
    mended          bigint   not null default 0,
    remaining       bigint   not null default 0
);
create index index_reports_index on index_reports (index_id);

create table index_differences (
    operation_id     text     not null,
    number           bigint   not null,              -- from 1
    class            smallint not null,              -- 0: not examined yet; domain/operations/report_operations.h
    state            smallint not null,              -- domain/operations/report_operations.h
    has_source       boolean  not null,              -- an entry may name none
    source_partition text     collate "C" not null,
    source_row       text     collate "C" not null,
    entry_partition  text     collate "C" not null,
    entry_row        text     collate "C" not null,
    source_version   bigint   not null default 0,
    found_version    bigint   not null default 0,
    found_digest     bigint   not null default 0,
    wanted_digest    bigint   not null default 0,
    primary key (operation_id, number)
);
create index index_differences_pending on index_differences (operation_id, number) where state = 0;
