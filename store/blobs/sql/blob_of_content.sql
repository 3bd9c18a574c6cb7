-- SPDX-License-Identifier: Apache-2.0
-- The blob of account $1 that points to content $2; no row: none does any more. Uses blobs_content.
select name, content_id, size, content_type, sha256, created from blobs
where account = $1::text and content_id = $2::uuid
