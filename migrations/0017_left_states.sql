-- SPDX-License-Identifier: Apache-2.0
-- Removes what earlier versions have left: state rows of tables that have no index any more. Rows that name only dropped
-- indexes, of tables that have other indexes, are removed when one of those is dropped.

-- Until the commit no index is created or changes its state. Entities are read and written meanwhile; each removed row is
-- locked, as a reconcile would lock it.
lock table indexes in share mode;
delete from index_state s
where not exists (select from indexes i where i.source_table_id = s.table_id and i.state <> 4);
