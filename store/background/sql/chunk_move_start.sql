-- SPDX-License-Identifier: Apache-2.0
-- Begin operation $1 of account $2, which moves the chunks of blobs into the store that is named $3, at $4. Returns
-- whether the database refuses programs that do not know of moves (before schema version 49), without which nothing
-- begins, and whether it has begun: it has not if a move has not ended, of which operations_chunk_move holds one.
with known as (
    select coalesce((select max(coalesce(m.oldest_program, m.version)) from schema_migrations m), 0) >= 49 as by_all
), begun as (
    insert into operations (operation_id, account, kind, target, state, started, table_id, index_id, filter)
    select $1::text, $2::text, 'move_chunks', $3::text, 1, $4::int8, 0, 0, '' from known where by_all
    on conflict (kind) where kind = 'move_chunks' and state in (1, 2) do nothing
    returning operation_id
)
select by_all, exists (select from begun) from known
