-- SPDX-License-Identifier: Apache-2.0
-- Verifications of indexes with a copy rule report copies that differ, and of which property. index_reports and
-- index_differences are locked for a moment: the columns have constant defaults.
-- programs: 36
-- locks: index_reports moment
-- locks: index_differences moment
alter table index_reports add column copies bigint not null default 0;
alter table index_differences add column property text not null default '';
