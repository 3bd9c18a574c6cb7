-- SPDX-License-Identifier: Apache-2.0
-- Indexes that are built to take the place of another one.
--
-- indexes is locked alone (ACCESS EXCLUSIVE) for some milliseconds; nothing is rewritten.

-- The index whose name this one takes when it is READY. Until then no caller finds it: the folded name of it and of its table
-- has a '$'.
alter table indexes add column replaces bigint;
create unique index indexes_replaces on indexes (replaces) where state <> 4; -- one replacement at a time
