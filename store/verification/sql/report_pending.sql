-- SPDX-License-Identifier: Apache-2.0
-- Up to $2 differences of report $1 that are to be checked. By index_differences_pending.
select number, class, has_source, source_partition, source_row, entry_partition, entry_row, property
from index_differences
where operation_id = $1::text and state = 0
order by number
limit $2::int8
