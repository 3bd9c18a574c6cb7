-- SPDX-License-Identifier: Apache-2.0
-- Account $1 is about to put the $6 bytes of chunk $2 as object $3 into store $4: unless it has the chunk, note the
-- object as a stray, which the collector removes if no chunk names it in $5 seconds. Returns whether it has the chunk,
-- and whether the database refuses programs that would lose such objects (before schema version 46). The statement is a
-- transaction by itself that waits for the disk: it is there before the bytes are (guard G68).
with present as (
    select from blob_chunks where account = $1::text and digest = $2::bytea
), reserved as (
    insert into blob_strays (object_id, account, digest, size, store, due)
    select $3::uuid, $1::text, $2::bytea, $6::int4, $4::int2, now() + make_interval(secs => $5::int8)
    where not exists (select from present)
)
select exists (select from present),
    coalesce((select max(coalesce(m.oldest_program, m.version)) from schema_migrations m), 0) >= 46
