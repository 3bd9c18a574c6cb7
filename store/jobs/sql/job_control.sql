-- SPDX-License-Identifier: Apache-2.0
-- Pause, resume, cancel or slow down an operation that has not ended; builds and purges cannot be
-- cancelled, and the scrub cannot be controlled. $1 account, $2 id, $3 the command: 1 pause, 2
-- resume, 3 cancel, 4 throttle; $4 rate, $5 now. No row: the command does not apply.
update operations
set state = case $3::int2 when 1 then 2 when 2 then 1 when 3 then 5 else state end,
    ended = case $3::int2 when 3 then $5::int8 else ended end,
    rate = case $3::int2 when 4 then $4::int8 else rate end,
    claim_expires_at = case when $3::int2 = 4 and owner = '' then now() else claim_expires_at end
where account = $1::text and operation_id = $2::text and state in (1, 2) and kind <> 'scrub_index'
    and ($3::int2 <> 3 or kind in ('delete_range', 'verify_index', 'repair_index', 'move_chunks'))
returning operation_id, kind, target, state, done, total, started, ended, error
