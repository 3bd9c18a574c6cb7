-- SPDX-License-Identifier: Apache-2.0
-- Other stored forms $2 and $3 of the two keys of account $1, which are stored as $4 and $5 until now; no row comes back if they are not.
update accounts set first_key = $2::bytea, second_key = $3::bytea
where name = $1::text and first_key = $4::bytea and second_key = $5::bytea
returning name
