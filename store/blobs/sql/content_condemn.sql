-- SPDX-License-Identifier: Apache-2.0
-- Remove up to $3 parts of content $2 of account $1, whose row is locked, and condemn their chunks: if
-- no other part names such a chunk, a later transaction deletes it. Chunks are locked in the order of
-- their keys, and all of them are written: another collector, which found this part, may just have
-- spared a chunk that was condemned before. Returns the number of removed parts; with fewer than $3 of them, the content's row is
-- removed as well, and otherwise it is discarded, so that nobody publishes what is left of it. A content to which a blob points, or
-- that an entity holds, is left alone.
with gone as (
    delete from blob_parts p
    using (
        select account, content_id, number from blob_parts
        where account = $1::text and content_id = $2::uuid
            and not exists (select from blobs b where b.content_id = $2::uuid)
            and not exists (select from blob_references r where r.content_id = $2::uuid)
        order by number
        limit $3::int8) old
    where (p.account, p.content_id, p.number) = (old.account, old.content_id, old.number)
    returning p.account, p.digest
), locked as (
    select account, digest from blob_chunks
    where (account, digest) in (select account, digest from gone)
    order by account, digest
    for update
), condemned as (
    update blob_chunks k set condemned = now()
    from locked l
    where (k.account, k.digest) = (l.account, l.digest)
), removed as (
    delete from blob_contents c
    where account = $1::text and content_id = $2::uuid and (select count(*) from gone) < $3::int8
        and not exists (select from blobs b where b.content_id = $2::uuid)
        and not exists (select from blob_references r where r.content_id = $2::uuid)
), discarded as (
    update blob_contents set state = 3, discarded = coalesce(discarded, now())
    where account = $1::text and content_id = $2::uuid and state <> 3
        and (select count(*) from gone) >= $3::int8
)
select count(*) from gone
