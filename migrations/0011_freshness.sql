-- SPDX-License-Identifier: Apache-2.0
-- Waiting for writes: which intents a dead letter has taken the place of.

-- intents: the latest ids that were removed when the key was given up: who waits for one of them must not take it for
-- done. forgotten: the greatest id that is no longer among them, because there were too many.
alter table dead_letters
    add column intents uuid[] not null default '{}',
    add column forgotten uuid;
create index dead_letters_keys on dead_letters (bucket) where kind = 1 and index_id = 0;
