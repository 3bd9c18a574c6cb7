-- SPDX-License-Identifier: Apache-2.0
-- Append chunk number $5 with the SHA-256 $6 to content $2 of account $1, of which $4 bytes are stored. The chunk has $8
-- bytes: $7, or, if that is null, object $10 of store $9, which chunk_hold_stray has locked; if that is null too, it is a
-- chunk that chunk_hold has locked. A row comes back if the chunk is stored now, also by an earlier attempt. No row:
-- stream $3 is not the content's writer any more, or the content was abandoned (guard G54), or there is no such object or
-- chunk (guard G68).
--
-- A chunk that exists is locked, although nothing of it changes (`where` is false for most): so the
-- collector, which locks the chunk before it looks for parts that name it, either finds this part or
-- has deleted the chunk before this statement inserts it again (guard G55). The time until the
-- content counts as abandoned ($11 seconds) is renewed when half of it has passed, since each change of
-- it changes an index. An object that became the chunk's bytes is no stray any more; if the chunk exists, it stays one.
with content as (
    update blob_contents
    set size = $4::int8 + $8::int4,
        kept_until = case when kept_until < now() + make_interval(secs => $11::int8 / 2)
            then now() + make_interval(secs => $11::int8) else kept_until end
    where account = $1::text and content_id = $2::uuid and state = 1 and writer = $3::int8
        and size in ($4::int8, $4::int8 + $8::int4)
        and ($7::bytea is not null
            or exists (select from blob_strays s where s.object_id = $10::uuid and not s.removing)
            or ($10::uuid is null
                and exists (select from blob_chunks k where k.account = $1::text and k.digest = $6::bytea)))
    returning account, content_id
), chunk as (
    insert into blob_chunks as k (account, digest, size, bytes, store, object_id)
    select account, $6::bytea, $8::int4, $7::bytea, $9::int2, $10::uuid from content
    on conflict (account, digest) do update set condemned = null where k.condemned is not null
    returning k.object_id
), taken as (
    delete from blob_strays s using chunk c where s.object_id = $10::uuid and c.object_id = s.object_id
)
insert into blob_parts as p (account, content_id, number, digest)
select account, content_id, $5::int4, $6::bytea from content
on conflict (account, content_id, number) do update set digest = p.digest where p.digest = excluded.digest
returning number
