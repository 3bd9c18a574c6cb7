-- SPDX-License-Identifier: Apache-2.0
-- The owners of values of unique indexes. A new table: no other table is locked.

-- One row per owned value, with the source key of its owner. A write that takes the value, releases
-- it or gives it to another entity changes the row in its own transaction, while the row is locked.
create table unique_owners (
    index_id      bigint not null,
    value         bytea  not null,                  -- SHA-256 of the canonical form: domain/indexes/unique_value.h
    partition_key text   collate "C" not null,
    row_key       text   collate "C" not null,
    primary key (index_id, value)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
