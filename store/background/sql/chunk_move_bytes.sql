-- SPDX-License-Identifier: Apache-2.0
-- The bytes of those of the chunks $2 of accounts $1 that the database has: their places in the arrays, from 1, and
-- bytes.
select u.place, k.bytes
from unnest($1::text[], $2::bytea[]) with ordinality u(account, digest, place)
    join blob_chunks k on (k.account, k.digest) = (u.account, u.digest)
where k.bytes is not null
