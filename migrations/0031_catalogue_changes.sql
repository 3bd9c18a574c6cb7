-- SPDX-License-Identifier: Apache-2.0
-- What each version of the catalogue has changed, so that a program that knows an earlier version
-- reads only the changes.
--
-- indexes is locked against writes (SHARE) while the index is made: some milliseconds.

-- One row for each version: the caller's table whose own row, indexes or tables of entries have
-- changed; 0: no table; -1: the accounts. If a version has no row, the whole catalogue is read
-- again.
create table catalogue_changes (
    version   bigint not null primary key,
    family_id bigint not null
);

create index indexes_source on indexes (source_table_id);
