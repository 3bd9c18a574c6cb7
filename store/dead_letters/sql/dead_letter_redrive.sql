-- SPDX-License-Identifier: Apache-2.0
-- Make a dead or discarded dead letter RETRYING, in the same commit as its new intent: $1 its id.
-- Its failures count from 0 again, and its history stays. No row: the dead letter has gone after a
-- success, or is RETRYING already.
update dead_letters
set dead = false, discarded = false, note = '', failures = 0, deliveries = 0, next_try = now(), history = right(history
    || to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || E' redriven\n', 4000)
where dead_letter_id = $1::int8 and dead
returning 1
