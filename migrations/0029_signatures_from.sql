-- SPDX-License-Identifier: Apache-2.0
-- The time from which signatures open a table.
--
-- tables is locked alone (ACCESS EXCLUSIVE) while its rows are written once: milliseconds for thousands of tables. operations
-- is locked against writers while its rows are read once.

-- Ticks. A minute before the table was made, since a signer's clock may be behind. Null: when it was made, for a table that
-- took the name of one that had just been deleted, whose signatures could not be told apart otherwise.
alter table tables add column signatures_from bigint;
update tables set signatures_from = created - 600000000;

-- The names that were freed lately.
create index operations_deletions on operations (account, started) where kind in ('delete_table', 'drop_index');
