-- SPDX-License-Identifier: Apache-2.0
-- For verifying only the entries with given values. index_reports is locked for a moment: the
-- column has a constant default.
alter table index_reports add column scope bytea not null default ''; -- domain/indexes/verify_scope.h; empty: every entry
