-- SPDX-License-Identifier: Apache-2.0
-- The chunks $2 of accounts $1, which are locked and have not been deleted, are in use: they are not
-- condemned any more.
update blob_chunks k set condemned = null
from unnest($1::text[], $2::bytea[]) u(account, digest)
where (k.account, k.digest) = (u.account, u.digest)
