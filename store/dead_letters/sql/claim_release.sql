-- SPDX-License-Identifier: Apache-2.0
-- Delete the claim of consumer $1 in its start $2.
delete from claims where consumer = $1::text and start_id = $2::text
