-- SPDX-License-Identifier: Apache-2.0
-- Claim the running operation without a claim whose last claim ended first: $1 owner, $2 for how many milliseconds, $3
-- which kinds: enum job_group. Claims spread work, and correctness does not depend on them: job_checkpoint refuses a
-- worker that has lost its claim. A claim that ends more than twice $2 ahead, and later than 5000 rows may take at the
-- operation's rate, is free: the clock has been set back.
update operations
set owner = $1::text, claim_expires_at = now() + $2::int8 * interval '1 millisecond'
where operation_id = (
    select operation_id from operations
    where state = 1 and case kind when 'scrub_index' then 1 when 'move_chunks' then 2 else 0 end = $3::int2 and (claim_expires_at <= now() or claim_expires_at > now() + greatest(
        $2::int8 * interval '2 milliseconds', case when rate > 0 then 5000 * interval '1 second' / rate end))
    order by claim_expires_at, operation_id
    limit 1
    for update skip locked
)
returning operation_id, kind, table_id, index_id, phase, has_cursor, cursor_partition, cursor_row, done, total, differences,
    filter, rate, target
