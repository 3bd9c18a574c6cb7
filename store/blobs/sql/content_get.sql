-- SPDX-License-Identifier: Apache-2.0
-- Content $2 of account $1, which was put without a name, as blob_get returns blobs. One that was discarded is there
-- for those who still read it.
select '', content_id, size, content_type, sha256, created from blob_contents
where account = $1::text and content_id = $2::uuid and sha256 is not null
