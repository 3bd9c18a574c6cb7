-- SPDX-License-Identifier: Apache-2.0
-- Make $2 the first key of account $1; the old first key becomes the second one. No row comes back
-- if there is no such account.
update accounts set second_key = first_key, first_key = $2::bytea, rotated = now() where name = $1::text
returning name
