-- SPDX-License-Identifier: Apache-2.0
-- What earlier versions have left behind: state rows of tables that have no index any more, which nothing would remove.
-- Rows that name dropped indexes only, of tables that have others, go when one of those is dropped.

-- Until this is committed no index is created or changes its state; entities are read and written meanwhile, and each
-- row that goes is locked, as a reconcile would lock it.
lock table indexes in share mode;
delete from index_state s
where not exists (select from indexes i where i.source_table_id = s.table_id and i.state <> 4);
