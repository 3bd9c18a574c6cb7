-- SPDX-License-Identifier: Apache-2.0
-- A new account; no row comes back when the name is taken.
insert into accounts (name, administrator, first_key, second_key)
values ($1::text, $2::bool, $3::bytea, $4::bytea)
on conflict (name) do nothing
returning name
