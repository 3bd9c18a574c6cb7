-- SPDX-License-Identifier: Apache-2.0
-- Point blob $2 of account $1, whose row is locked, to content $3 of $4 bytes with media type $5,
-- SHA-256 $6, put at $7.
update blobs set content_id = $3::uuid, size = $4::int8, content_type = $5::text, sha256 = $6::bytea,
    created = $7::int8
where account = $1::text and name = $2::text
