-- SPDX-License-Identifier: Apache-2.0
-- A new first key; the one it replaces becomes the second. No row comes back when there is no such account.
update accounts set second_key = first_key, first_key = $2::bytea, rotated = now() where name = $1::text
returning name
