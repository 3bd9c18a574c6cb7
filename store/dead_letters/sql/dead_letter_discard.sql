-- SPDX-License-Identifier: Apache-2.0
-- Set a dead letter aside: $1 its number, $2 why. No row: it has been mended, is being retried, or set aside already.
update dead_letters
set discarded = true, note = $2::text, history = right(history
    || to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' discarded: ' || $2::text || E'\n', 4000)
where letter_id = $1::int8 and dead and not discarded
returning 1
