-- SPDX-License-Identifier: Apache-2.0
-- The retries that are due are found by an index: without it, a relay reads all dead letters at every look, also those
-- that were given up, of which there may be many. dead_letters is locked against writers while its rows are read once.
-- programs: 36
-- locks: dead_letters index
create index dead_letters_retries on dead_letters (next_try) where not dead;
