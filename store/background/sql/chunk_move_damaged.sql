-- SPDX-License-Identifier: Apache-2.0
-- How many of the chunks $2 of accounts $1 are still objects $4 of stores $3 (null: in the database).
select count(*)
from unnest($1::text[], $2::bytea[], $3::int2[], $4::uuid[]) u(account, digest, store, object_id)
    join blob_chunks k on (k.account, k.digest, k.store) = (u.account, u.digest, u.store)
        and k.object_id is not distinct from u.object_id
