-- SPDX-License-Identifier: Apache-2.0
-- Insert a report. $1 operation id, $2 index id, $3 repairs, $4 dry run, $5 whole index, $6 scans,
-- $7 to $9 the lower end of the range (whether there is one, keys), $10 to $12 the upper end; $13
-- fast, $14 the values of the entries.
insert into index_reports (operation_id, index_id, repairs, dry_run, is_whole, scans, has_from, from_partition, from_row,
    has_below, below_partition, below_row, is_fast, scope)
values ($1::text, $2::int8, $3::bool, $4::bool, $5::bool, $6::bool, $7::bool, $8::text, $9::text, $10::bool, $11::text,
    $12::text, $13::bool, $14::bytea)
