-- SPDX-License-Identifier: Apache-2.0
-- Renames the column with a dead letter's number to dead_letter_id, as in the API.
--
-- dead_letters is locked exclusively (ACCESS EXCLUSIVE) for some milliseconds, after the
-- transactions that are open when the migration begins. Nothing is rewritten. Statements of earlier
-- versions fail afterwards: stop their servers and workers first.
alter table dead_letters rename column letter_id to dead_letter_id;
alter index dead_letters_letter rename to dead_letters_id;
