-- SPDX-License-Identifier: Apache-2.0
-- Extend the claim of consumer $1 in its start $2 to $3 milliseconds from now.
update claims
set expires_at = now() + $3::int8 * interval '1 millisecond'
where consumer = $1::text and start_id = $2::text
