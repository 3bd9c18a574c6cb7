-- SPDX-License-Identifier: Apache-2.0
-- The bytes of chunks $3 of accounts $2, of $4 bytes each, are about to be put as objects $1 into store $5: note the
-- objects as strays, which are removed if no chunk names them in $6 seconds. The statement is a transaction by itself
-- that waits for the disk: it is there before the bytes are (guard G73).
insert into blob_strays (object_id, account, digest, size, store, due, moved)
select u.object_id, u.account, u.digest, u.size, $5::int2, now() + make_interval(secs => $6::int8), true
from unnest($1::uuid[], $2::text[], $3::bytea[], $4::int8[]) u(object_id, account, digest, size)
