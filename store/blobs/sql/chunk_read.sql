-- SPDX-License-Identifier: Apache-2.0
-- Chunk number $3 of content $2 of account $1: its digest, and its bytes or their store and object, in one snapshot; and
-- whether the content was discarded and has less than $4 seconds left. No row: it was removed.
select p.digest, k.bytes, c.state = 3 and c.kept_until < now() + make_interval(secs => $4::int8), k.store, k.object_id
from blob_contents c
    join blob_parts p on (p.account, p.content_id) = (c.account, c.content_id) and p.number = $3::int4
    left join blob_chunks k on (k.account, k.digest) = (p.account, p.digest)
where c.account = $1::text and c.content_id = $2::uuid
