-- SPDX-License-Identifier: Apache-2.0
-- Moves of chunks of blobs between stores (docs/blobs.md, Moving chunks). One such operation is open at a time: two with
-- different targets would move the same chunks to and fro for ever. Strays say how large their bytes are, which count
-- for the account's quota unless a move, of which the account knows nothing, has left them; those of programs before
-- this version count as 0. operations is locked against writers while its rows are read once.
-- programs: 36
-- locks: blob_strays moment
-- locks: operations index
alter table blob_strays
    add column size  integer not null default 0,
    add column moved boolean not null default false;

create unique index operations_chunk_move on operations (kind) where kind = 'move_chunks' and state in (1, 2);
