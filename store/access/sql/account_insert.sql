-- SPDX-License-Identifier: Apache-2.0
-- A new account with an id that no account has had; no row comes back if the name is taken. The
-- tables of a server without authentication belong to `default`, so a new account of that name
-- takes over these tables.
insert into accounts (name, administrator, first_key, second_key, id)
values ($1::text, $2::bool, $3::bytea, $4::bytea,
    case when $1::text = 'default' and exists (select from tables where live and account = 'default') then 'default'
         else $1::text || '#' || nextval('account_ids') end)
on conflict (name) do nothing
returning name
