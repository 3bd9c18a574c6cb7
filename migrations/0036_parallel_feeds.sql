-- SPDX-License-Identifier: Apache-2.0
-- Writers of a table with a change feed no longer wait for each other. They announce by advisory
-- locks from which number on they draw, and readers stop below the numbers of open transactions;
-- the row of the feed is locked no more. Programs before this one would neither announce nor stop,
-- and a watch could miss a change. So they must not write beside newer ones: the new name of a
-- column stops also those that are connected.
-- programs: 36
-- locks: changes moment
alter table changes rename column expires to expires_at;
