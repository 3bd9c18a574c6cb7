-- SPDX-License-Identifier: Apache-2.0
-- How an index is verified. index_reports is locked for a moment: the columns have constant
-- defaults.

alter table index_reports
    add column is_fast boolean not null default false, -- versions are compared, and contents only where they differ
    add column sums    bytea   not null default '';    -- domain/indexes/verify_sums.h
