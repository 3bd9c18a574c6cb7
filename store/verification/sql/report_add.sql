-- SPDX-License-Identifier: Apache-2.0
-- Add the counts of a chunk to a report: $1 operation id, $2 numbered differences, $3 sources, $4
-- entries, $5 in flight, $6 missing, $7 dangling, $8 mismatched, $9 manifests, $10 repaired, $11
-- remaining; $12 the present sums; $13 copies that differ.
update index_reports
set last_number = last_number + $2::int8, sources = sources + $3::int8, entries = entries + $4::int8,
    in_flight = in_flight + $5::int8, missing = missing + $6::int8, dangling = dangling + $7::int8,
    mismatched = mismatched + $8::int8, manifests = manifests + $9::int8, mended = mended + $10::int8,
    remaining = remaining + $11::int8, sums = $12::bytea, copies = copies + $13::int8
where operation_id = $1::text
