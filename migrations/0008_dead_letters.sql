-- SPDX-License-Identifier: Apache-2.0
-- Dead letters as operators use them: each has an id, and can be redriven, or discarded with a
-- reason.

-- A discarded dead letter records that the index entries of its key are behind, until a later
-- success with the key removes it.
alter table dead_letters
    add column letter_id bigint generated always as identity,
    add column discarded boolean not null default false,
    add column note      text    not null default '';
create unique index dead_letters_letter on dead_letters (letter_id);
