-- SPDX-License-Identifier: Apache-2.0
-- Writes with a request_id: the request and its answer, which are committed with the effect.
create table requests (
    bucket     smallint not null,                     -- of the id: it is unique in the whole account
    account    text     collate "C" not null,
    request_id text     collate "C" not null,
    digest     bytea    not null,                     -- equal requests have equal digests
    response   bytea    not null,
    at         timestamptz not null default now(),
    primary key (account, request_id, bucket)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create index requests_at on requests (at);
