-- SPDX-License-Identifier: Apache-2.0
-- The bytes of chunks $2 of accounts $1, which were in stores $3 as objects $4 (null: in the database), are in store $7
-- as well, as objects $5, or are $6 if that is the database: point the chunks to them. One that has other bytes or is
-- gone meanwhile is left alone, and so is one whose new object the collector has begun to remove (guard G73); its new
-- object stays a stray. The old objects become strays, which are removed after $8 seconds. Returns the number of chunks
-- that were pointed.
with chosen as (
    select * from unnest($1::text[], $2::bytea[], $3::int2[], $4::uuid[], $5::uuid[], $6::bytea[])
        u(account, digest, old_store, old_object, new_object, bytes)
), held as (
    select object_id from blob_strays where object_id = any ($5::uuid[]) and not removing
    order by object_id
    for update
), locked as (
    select k.account, k.digest
    from blob_chunks k join chosen c using (account, digest)
    where k.store = c.old_store and k.object_id is not distinct from c.old_object
        and (c.new_object is null or c.new_object in (select object_id from held))
    order by k.account, k.digest
    for update of k
), pointed as (
    update blob_chunks k set store = $7::int2, object_id = c.new_object, bytes = c.bytes
    from chosen c join locked l using (account, digest)
    where (k.account, k.digest) = (c.account, c.digest)
    returning k.account, k.digest, k.size, c.old_store, c.old_object, c.new_object
), taken as (
    delete from blob_strays s using pointed p where s.object_id = p.new_object
), left_over as (
    insert into blob_strays (object_id, account, digest, size, store, due, moved)
    select old_object, account, digest, size, old_store, now() + make_interval(secs => $8::int8), true
    from pointed where old_object is not null
)
select count(*) from pointed
