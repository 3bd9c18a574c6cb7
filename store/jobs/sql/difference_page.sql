-- SPDX-License-Identifier: Apache-2.0
-- The differences of a report in the order of their numbers. $1 operation id, $2 behind this
-- number, $3 how many.
select number, class, state, has_source, source_partition, source_row, entry_partition, entry_row, source_version,
    found_version, found_digest, wanted_digest, property
from index_differences
where operation_id = $1::text and number > $2::int8 and class <> 0
order by number
limit $3::int8
