-- SPDX-License-Identifier: Apache-2.0
-- Take a dead or discarded letter back into work, in the commit of the intent that does it: $1 its number. It counts
-- anew and keeps its history. No row: it has been mended, or is being retried already.
update dead_letters
set dead = false, discarded = false, note = '', failures = 0, deliveries = 0, next_try = now(), history = right(history
    || to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || E' redriven\n', 4000)
where letter_id = $1::int8 and dead
returning 1
