-- SPDX-License-Identifier: Apache-2.0
-- Content $2 of account $1, which was complete, gets a name: a blob describes it from now on, and no entity can hold it.
-- No row: it was abandoned, or has been collected.
update blob_contents set state = 2, sha256 = null, content_type = null, created = null
where account = $1::text and content_id = $2::uuid and state = 4
returning content_id
