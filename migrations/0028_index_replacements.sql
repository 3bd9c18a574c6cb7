-- SPDX-License-Identifier: Apache-2.0
-- Indexes that are built to replace another one.
--
-- indexes is locked exclusively (ACCESS EXCLUSIVE) for some milliseconds; nothing is rewritten.

-- The index whose name this one gets when it is READY. Until then callers cannot find it: its
-- folded name and that of its table contain a '$'.
alter table indexes add column replaces bigint;
create unique index indexes_replaces on indexes (replaces) where state <> 4; -- one replacement at a time
