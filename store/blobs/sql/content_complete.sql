-- SPDX-License-Identifier: Apache-2.0
-- Content $2 of account $1 is complete, and has no name: entities may hold it. It has media type $5, SHA-256 $6, was put
-- at $7, and counts as abandoned after $8 seconds. No row: as in content_publish (guard G54).
update blob_contents
set state = 4, content_type = $5::text, sha256 = $6::bytea, created = $7::int8,
    kept_until = now() + make_interval(secs => $8::int8)
where account = $1::text and content_id = $2::uuid and state = 1 and writer = $3::int8 and size = $4::int8
returning content_id
