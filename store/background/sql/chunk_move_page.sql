-- SPDX-License-Identifier: Apache-2.0
-- The next $3 chunks of blobs behind the chunk $2 of account $1, in the order of keys; both empty: from the first one
-- on. Uses the primary key.
select account, digest, size, store, object_id
from blob_chunks
where (account, digest) > ($1::text, $2::bytea)
order by account, digest
limit $3::int8
