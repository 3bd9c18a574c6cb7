-- SPDX-License-Identifier: Apache-2.0
-- Insert differences of a report, or replace those that were checked again. $1 operation id; arrays
-- of one length: $2 numbers, $3 classes, $4 states, $5 whether there is a source, $6 and $7 its
-- key, $8 and $9 the entry's key, $10 version of the source, $11 version and $12 digest of the
-- stored entry, $13 digest of the entry that the source asks for, $14 the property of a copy.
insert into index_differences (operation_id, number, class, state, has_source, source_partition, source_row,
    entry_partition, entry_row, source_version, found_version, found_digest, wanted_digest, property)
select $1::text, u.*
from unnest($2::int8[], $3::int2[], $4::int2[], $5::bool[], $6::text[], $7::text[], $8::text[], $9::text[], $10::int8[],
    $11::int8[], $12::int8[], $13::int8[], $14::text[]) u
on conflict (operation_id, number) do update
set class = excluded.class, state = excluded.state, entry_partition = excluded.entry_partition,
    entry_row = excluded.entry_row, source_version = excluded.source_version, found_version = excluded.found_version,
    found_digest = excluded.found_digest, wanted_digest = excluded.wanted_digest, property = excluded.property
