-- SPDX-License-Identifier: Apache-2.0
-- Accounts have ids: a name that is given again does not bring the rows of its earlier account along.
--
-- accounts is locked alone (ACCESS EXCLUSIVE) for some milliseconds. No other table is touched: the id of an account that is
-- there already is its name, under which its tables, transactions, operations and request records are stored.
create sequence account_ids;
alter table accounts add column id text collate "C";
update accounts set id = name;
alter table accounts alter column id set not null, add constraint accounts_id unique (id);
