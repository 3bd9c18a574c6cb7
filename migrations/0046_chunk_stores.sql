-- SPDX-License-Identifier: Apache-2.0
-- Chunks of blobs in a directory or an S3-compatible store (docs/blobs.md, Where the chunks are). A chunk says where its bytes
-- are; blob_strays lists bytes out there that no chunk names: those that are being put, and those that are to be removed.
-- Programs before this version neither read nor remove such bytes, so a database that admits them gets none.
-- programs: 36
-- locks: blob_chunks moment
alter table blob_chunks
    add column store     smallint not null default 0, -- that has the bytes: 0 this one, 1 in the directory, 2 in S3
    add column object_id uuid;                        -- the name of the bytes there, never used for others; null: none

create table blob_strays (
    object_id uuid        not null primary key,
    account   text        collate "C" not null,
    digest    bytea       not null,
    store     smallint    not null,
    due       timestamptz not null,                   -- the collector removes the bytes from then on
    removing  boolean     not null default false      -- it has begun to: no chunk can name the bytes any more (guard G68)
);
create index blob_strays_due on blob_strays (due);
