-- SPDX-License-Identifier: Apache-2.0
-- Accounts get ids, so that an account with the name of a deleted one does not get its rows.
--
-- accounts is locked exclusively (ACCESS EXCLUSIVE) for some milliseconds. No other table is
-- changed: the id of an existing account is its name, under which its tables, transactions,
-- operations and request records are stored.
create sequence account_ids;
alter table accounts add column id text collate "C";
update accounts set id = name;
alter table accounts alter column id set not null, add constraint accounts_id unique (id);
