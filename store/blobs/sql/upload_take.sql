-- SPDX-License-Identifier: Apache-2.0
-- Stream $3 continues content $2 of account $1, whose row is locked; no other stream can append to it
-- from now on (guard G54). It counts as abandoned after $4 seconds.
update blob_contents set writer = $3::int8, kept_until = now() + make_interval(secs => $4::int8)
where account = $1::text and content_id = $2::uuid
