-- SPDX-License-Identifier: Apache-2.0
-- Delete those of the chunks $2 of accounts $1, which are locked and condemned, that no part names.
-- The statement's snapshot is newer than the locks (guard G56). Returns one row per chunk.
delete from blob_chunks k
using unnest($1::text[], $2::bytea[]) u(account, digest)
where (k.account, k.digest) = (u.account, u.digest)
    and not exists (select from blob_parts p where (p.account, p.digest) = (k.account, k.digest))
returning k.size
