-- SPDX-License-Identifier: Apache-2.0
-- Blob $2 of account $1. A row without a content is not committed, so it is never seen.
select name, content_id, size, content_type, sha256, created from blobs
where account = $1::text and name = $2::text
