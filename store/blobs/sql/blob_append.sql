-- SPDX-License-Identifier: Apache-2.0
-- Append chunk number $5, of bytes $7 with the SHA-256 $6, to content $2 of account $1, of which $4
-- bytes are stored. A row comes back if the chunk is stored now, also by an earlier attempt. No row:
-- stream $3 is not the content's writer any more, or the content was abandoned (guard G54).
--
-- A chunk that exists is locked, although nothing of it changes (`where` is false for most): so the
-- collector, which locks the chunk before it looks for parts that name it, either finds this part or
-- has deleted the chunk before this statement inserts it again (guard G55). The time until the
-- content counts as abandoned ($8 seconds) is renewed when half of it has passed, since each change of
-- it changes an index.
with content as (
    update blob_contents
    set size = $4::int8 + octet_length($7::bytea),
        kept_until = case when kept_until < now() + make_interval(secs => $8::int8 / 2)
            then now() + make_interval(secs => $8::int8) else kept_until end
    where account = $1::text and content_id = $2::uuid and state = 1 and writer = $3::int8
        and size in ($4::int8, $4::int8 + octet_length($7::bytea))
    returning account, content_id
), chunk as (
    insert into blob_chunks as k (account, digest, size, bytes)
    select account, $6::bytea, octet_length($7::bytea), $7::bytea from content
    on conflict (account, digest) do update set condemned = null where k.condemned is not null
)
insert into blob_parts as p (account, content_id, number, digest)
select account, content_id, $5::int4, $6::bytea from content
on conflict (account, content_id, number) do update set digest = p.digest where p.digest = excluded.digest
returning number
