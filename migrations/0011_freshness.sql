-- SPDX-License-Identifier: Apache-2.0
-- For reads that wait for writes: the intents that a dead letter has replaced.

-- intents: the last ids that were removed when the key was given up, so that a reader that waits
-- for one of them does not count it as done. forgotten: the greatest id that was dropped from the
-- list because there were too many.
alter table dead_letters
    add column intents uuid[] not null default '{}',
    add column forgotten uuid;
create index dead_letters_keys on dead_letters (bucket) where kind = 1 and index_id = 0;
