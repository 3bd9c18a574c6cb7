-- SPDX-License-Identifier: Apache-2.0
-- The upload of account $1 with the caller's id $2. Uses blob_contents_upload.
select content_id, state, size, (extract(epoch from kept_until) * 1000000)::int8 from blob_contents
where account = $1::text and upload_id = $2::text
