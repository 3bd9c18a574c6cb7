-- SPDX-License-Identifier: Apache-2.0
-- No blob points to content $2 of account $1 any more. This row is the intent to remove it, and
-- commits with the change of the blob. Readers have $3 seconds; those who go on reading get more.
update blob_contents set state = 3, discarded = now(), kept_until = now() + make_interval(secs => $3::int8)
where account = $1::text and content_id = $2::uuid
