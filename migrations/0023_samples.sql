-- SPDX-License-Identifier: Apache-2.0
-- What servers have sampled of the accesses to tables. Nothing that exists is locked.

create table samples (
    table_id bigint      not null,                   -- of an index: that of its entries
    span     smallint    not null,                   -- domain/operations/sample_operations.h
    server   bigint      not null,                   -- a random number of the process
    period   bigint      not null,                   -- a number of the server's own
    at       timestamptz not null,                   -- when it was stored last; rows go when they are too old to be read
    seconds  integer     not null,                   -- from the begin of the period to `at`
    content  bytea       not null,                   -- domain/sampling/sample_form.h
    primary key (table_id, span, server, period)
);
create index samples_at on samples (at);
