-- SPDX-License-Identifier: Apache-2.0
-- Store the progress of an operation and release it. No row comes back if the operation has ended,
-- or if another worker has taken it over, whose progress counts then. An operation that was paused
-- meanwhile stays paused; one with a rate limit rests for as long as the rows just done may take.
-- $1 id, $2 owner, $3 state, $4 phase, $5 to $7 cursor, $8 done, $9 total, $10 differences, $11
-- when it ended, $12 error.
update operations
set state = case when state = 2 and $3::int2 = 1 then 2 else $3::int2 end, phase = $4::int2, has_cursor = $5::bool,
    cursor_partition = $6::text, cursor_row = $7::text,
    done = $8::int8, total = $9::int8, differences = $10::int8, ended = $11::int8, error = $12::text, owner = '',
    claim_expires_at = now() + case when rate > 0 then ($8::int8 - done) * interval '1 second' / rate else interval '0' end
where operation_id = $1::text and owner = $2::text and state in (1, 2)
returning 1
