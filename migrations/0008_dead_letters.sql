-- SPDX-License-Identifier: Apache-2.0
-- Dead letters as operators handle them: by an id, redriven, or discarded with a reason.

-- A discarded dead letter stays as the record that its key is behind, until a later success of the key removes it.
alter table dead_letters
    add column letter_id bigint generated always as identity,
    add column discarded boolean not null default false,
    add column note      text    not null default '';
create unique index dead_letters_letter on dead_letters (letter_id);
