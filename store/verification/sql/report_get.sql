-- SPDX-License-Identifier: Apache-2.0
-- The task of operation $1, which verifies or repairs an index, and how many differences it has
-- recorded and how many remain.
select repairs, dry_run, scans, has_from, from_partition, from_row, has_below, below_partition, below_row, last_number, is_fast,
    sums, remaining, scope
from index_reports
where operation_id = $1::text
