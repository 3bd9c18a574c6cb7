-- SPDX-License-Identifier: Apache-2.0
-- What servers have sampled of the accesses to tables. No existing table is locked.

create table samples (
    table_id bigint      not null,                   -- for an index: the table of its entries
    span     smallint    not null,                   -- domain/operations/sample_operations.h
    server   bigint      not null,                   -- a random number of the process
    period   bigint      not null,                   -- a number that the server chooses
    at       timestamptz not null,                   -- when it was stored last; old rows are deleted
    seconds  integer     not null,                   -- from the beginning of the period to `at`
    content  bytea       not null,                   -- domain/sampling/sample_form.h
    primary key (table_id, span, server, period)
);
create index samples_at on samples (at);
