-- SPDX-License-Identifier: Apache-2.0
-- Claim a running operation that no worker has, the one whose claim ended first: $1 owner, $2 for how many milliseconds, $3 whether a pass of
-- the scrub, or anything else. Claims
-- spread work, and nothing relies on them: job_checkpoint refuses a worker that has lost its claim. A claim that ends later than
-- twice that, and than 5000 rows at the operation's rate may take, is free: the clock has been set back.
update operations
set owner = $1::text, claim_expires_at = now() + $2::int8 * interval '1 millisecond'
where operation_id = (
    select operation_id from operations
    where state = 1 and (kind = 'scrub_index') = $3::bool and (claim_expires_at <= now() or claim_expires_at > now() + greatest(
        $2::int8 * interval '2 milliseconds', case when rate > 0 then 5000 * interval '1 second' / rate end))
    order by claim_expires_at, operation_id
    limit 1
    for update skip locked
)
returning operation_id, kind, table_id, index_id, phase, has_cursor, cursor_partition, cursor_row, done, total, differences,
    filter, rate
