-- SPDX-License-Identifier: Apache-2.0
-- Copy the differences of report $2 that were not repaired to the report of operation $1, to be
-- checked again.
insert into index_differences (operation_id, number, class, state, has_source, source_partition, source_row,
    entry_partition, entry_row)
select $1::text, row_number() over (order by number), class, 0, has_source, source_partition, source_row, entry_partition,
    entry_row
from index_differences
where operation_id = $2::text and class <> 0 and state in (0, 1, 3, 5)
