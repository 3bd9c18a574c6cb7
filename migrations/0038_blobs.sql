-- SPDX-License-Identifier: Apache-2.0
-- Blobs: named content that is too large for an entity (docs/blobs.md). A put writes a new content, then
-- points the name to it, and leaves the old content to the collector (store/blobs/blob_collect.h). Only new
-- tables are created.
-- programs: 36
-- locks: none

-- A name and the content it points to. content_id is null only inside the transaction that creates the row.
create table blobs (
    account      text   collate "C" not null,
    name         text   collate "C" not null,
    content_id   uuid,                          -- the ETag: random, never used for another content
    size         bigint not null default 0,
    content_type text   not null default '',
    sha256       bytea  not null default '',
    created      bigint not null default 0,     -- ticks: when the name was pointed to this content
    primary key (account, name)
);
create unique index blobs_content on blobs (content_id); -- a content belongs to one name

-- A content while it is uploaded, while a name points to it, and until the collector has removed it.
create table blob_contents (
    account    text     collate "C" not null,
    content_id uuid     not null,
    state      smallint not null,               -- 1 open: being uploaded, 2 current: a blob points to it, 3 discarded
    size       bigint   not null,               -- open: the bytes stored so far
    writer     bigint   not null,               -- random: the stream that may append (guard G54)
    upload_id  text     collate "C",            -- the caller's id of a resumable upload; null: none
    kept_until timestamptz not null,            -- open: abandoned from then on; discarded: removed from then on
    discarded  timestamptz,                     -- when it was discarded
    primary key (account, content_id)
);
create unique index blob_contents_upload on blob_contents (account, upload_id) where upload_id is not null;
create index blob_contents_collect on blob_contents (kept_until) where state <> 2;

-- The manifest of a content: which chunk is its number-th. All chunks but the last have the same size.
create table blob_parts (
    account    text    collate "C" not null,
    content_id uuid    not null,
    number     integer not null,
    digest     bytea   not null,                -- of the chunk
    primary key (account, content_id, number)
);
create index blob_parts_chunk on blob_parts (account, digest);

-- Chunks by the SHA-256 of their bytes. They are shared by the contents of one account, never by two accounts.
create table blob_chunks (
    account   text    collate "C" not null,
    digest    bytea   not null,
    size      integer not null,
    bytes     bytea,                            -- null: another chunk store has them
    condemned timestamptz,                      -- since then possibly without a part that names it; null: not
    primary key (account, digest)
);
alter table blob_chunks alter column bytes set storage external;
create index blob_chunks_condemned on blob_chunks (condemned) where condemned is not null;
