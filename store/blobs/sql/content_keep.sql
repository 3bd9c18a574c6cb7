-- SPDX-License-Identifier: Apache-2.0
-- Content $2 of account $1 was discarded, and a caller still reads it: keep it for $3 more seconds,
-- but not longer than $4 seconds since it was discarded.
update blob_contents
set kept_until = least(now() + make_interval(secs => $3::int8), discarded + make_interval(secs => $4::int8))
where account = $1::text and content_id = $2::uuid and state = 3
