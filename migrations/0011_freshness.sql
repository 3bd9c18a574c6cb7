-- SPDX-License-Identifier: Apache-2.0
-- Waiting for writes: the intents that a dead letter has replaced.

-- intents: the latest ids that were removed when the key was given up: a reader that waits for one of them must not take it
-- for done. forgotten: the greatest id that the list had to drop, because there were too many.
alter table dead_letters
    add column intents uuid[] not null default '{}',
    add column forgotten uuid;
create index dead_letters_keys on dead_letters (bucket) where kind = 1 and index_id = 0;
