-- SPDX-License-Identifier: Apache-2.0
-- Take a running operation that nobody works on, the one left alone longest. $1 owner, $2 for how many
-- milliseconds. It spreads work, nothing relies on it: whoever works on is held up by run_checkpoint. One further ahead
-- than twice that, and than 5000 rows at its rate may take, is free: the clock has been set back.
update operations
set owner = $1::text, until = now() + $2::int8 * interval '1 millisecond'
where operation_id = (
    select operation_id from operations
    where state = 1 and (until <= now() or until > now() + greatest(
        $2::int8 * interval '2 milliseconds', case when rate > 0 then 5000 * interval '1 second' / rate end))
    order by until, operation_id
    limit 1
    for update skip locked
)
returning operation_id, kind, table_id, index_id, phase, has_cursor, cursor_partition, cursor_row, done, total, faults,
    filter
