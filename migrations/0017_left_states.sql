-- SPDX-License-Identifier: Apache-2.0
-- Removes rows that earlier versions have left behind: state rows of tables that have no index any
-- more. If a table has other indexes, state rows that name only dropped indexes are removed when
-- one of these is dropped.

-- Until the commit, no index can be created or change its state. Entities can be read and written;
-- each removed row is locked, as a reconcile would lock it.
lock table indexes in share mode;
delete from index_state s
where not exists (select from indexes i where i.source_table_id = s.table_id and i.state <> 4);
