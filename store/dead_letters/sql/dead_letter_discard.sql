-- SPDX-License-Identifier: Apache-2.0
-- Discard a dead letter: $1 its id, $2 the reason. No row: the dead letter has gone after a
-- success, is RETRYING, or is discarded already.
update dead_letters
set discarded = true, note = $2::text, history = right(history
    || to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' discarded: ' || $2::text || E'\n', 4000)
where dead_letter_id = $1::int8 and dead and not discarded
returning 1
