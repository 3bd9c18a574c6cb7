-- SPDX-License-Identifier: Apache-2.0
-- Store the two keys of account $1 in the forms $2 and $3. No row comes back if the stored forms
-- are no longer $4 and $5.
update accounts set first_key = $2::bytea, second_key = $3::bytea
where name = $1::text and first_key = $4::bytea and second_key = $5::bytea
returning name
