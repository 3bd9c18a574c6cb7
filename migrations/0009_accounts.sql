-- SPDX-License-Identifier: Apache-2.0
-- Accounts with their keys, and the stored access policies of tables.

-- Both keys are accepted. A rotation moves the first key to the second place. The keys sign
-- credentials, so they are stored in a form from which they can be read.
create table accounts (
    name          text        collate "C" primary key,
    administrator boolean     not null,
    first_key     bytea       not null,
    second_key    bytea       not null,
    created       timestamptz not null default now(),
    rotated       timestamptz not null default now()
);

alter table tables add column policies bytea not null default '';
