-- SPDX-License-Identifier: Apache-2.0
-- The time from which signatures give access to a table.
--
-- tables is locked exclusively (ACCESS EXCLUSIVE) while its rows are written once: milliseconds for
-- thousands of tables. operations is locked against writers while its rows are read once.

-- Ticks. Usually a minute before the table was made, since a signer's clock may be behind. Null:
-- the time when it was made, for a table with the name of one that had just been deleted, since
-- signatures for the two could not be distinguished otherwise.
alter table tables add column signatures_from bigint;
update tables set signatures_from = created - 600000000;

-- The names that were freed recently.
create index operations_deletions on operations (account, started) where kind in ('delete_table', 'drop_index');
