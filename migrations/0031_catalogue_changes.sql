-- SPDX-License-Identifier: Apache-2.0
-- What each version of the catalogue has changed, so that a program that knows an earlier version reads only that.
--
-- indexes is locked against writes (SHARE) while the index is made: some milliseconds.

-- One row for each version: the table of callers whose own row, indexes or tables of entries changed; 0: none did; -1: the
-- accounts did. A version without a row says nothing: all of the catalogue is read again.
create table catalogue_changes (
    version   bigint not null primary key,
    family_id bigint not null
);

create index indexes_source on indexes (source_table_id);
