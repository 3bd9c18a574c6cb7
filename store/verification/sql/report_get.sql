-- SPDX-License-Identifier: Apache-2.0
-- What an operation that verifies or repairs an index is to do, how many differences it has noted, and how many remain.
-- $1 its id.
select repairs, dry_run, scans, has_from, from_partition, from_row, has_below, below_partition, below_row, last_number, is_fast,
    sums, remaining, scope
from index_reports
where operation_id = $1::text
