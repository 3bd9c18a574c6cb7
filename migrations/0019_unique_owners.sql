-- SPDX-License-Identifier: Apache-2.0
-- Who owns the values of unique indexes. A new table: nothing is locked for longer than its creation.

-- One row per value that some entity has: its source key. Written in the transaction of the write that takes the value,
-- releases it, or hands it on, under the lock of this row.
create table unique_owners (
    index_id      bigint not null,
    value         bytea  not null,                  -- SHA-256 of the canonical form: domain/indexes/unique_value.h
    partition_key text   collate "C" not null,
    row_key       text   collate "C" not null,
    primary key (index_id, value)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
