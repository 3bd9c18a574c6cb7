-- SPDX-License-Identifier: Apache-2.0
-- Begin content $2 of account $1, written by stream $3, as the upload with the caller's id $4 (null:
-- none). It counts as abandoned after $5 seconds. If the account has an upload of this id, nothing
-- is inserted.
insert into blob_contents (account, content_id, state, size, writer, upload_id, kept_until)
values ($1::text, $2::uuid, 1, 0, $3::int8, $4::text, now() + make_interval(secs => $5::int8))
on conflict do nothing
