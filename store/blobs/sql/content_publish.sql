-- SPDX-License-Identifier: Apache-2.0
-- Content $2 of account $1 becomes current. No row: stream $3 is not its writer any more, it does
-- not have $4 bytes, or it was abandoned (guard G54).
update blob_contents set state = 2
where account = $1::text and content_id = $2::uuid and state = 1 and writer = $3::int8 and size = $4::int8
returning content_id
