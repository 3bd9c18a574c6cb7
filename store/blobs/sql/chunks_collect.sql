-- SPDX-License-Identifier: Apache-2.0
-- Delete those of the chunks $2 of accounts $1, which are locked and condemned, that no part names.
-- The statement's snapshot is newer than the locks (guard G56). The objects of those whose bytes are elsewhere become
-- strays, which are removed after $3 seconds. Returns one row per chunk.
with deleted as (
    delete from blob_chunks k
    using unnest($1::text[], $2::bytea[]) u(account, digest)
    where (k.account, k.digest) = (u.account, u.digest)
        and not exists (select from blob_parts p where (p.account, p.digest) = (k.account, k.digest))
    returning k.account, k.digest, k.size, k.store, k.object_id
), strays as (
    insert into blob_strays (object_id, account, digest, size, store, due)
    select object_id, account, digest, size, store, now() + make_interval(secs => $3::int8)
    from deleted where object_id is not null
)
select store from deleted
