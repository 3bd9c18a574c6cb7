-- SPDX-License-Identifier: Apache-2.0
-- Administrative calls: the caller, the method, the target and the outcome, but never values or
-- secrets. No other table is locked.
create table audit_records (
    audit_id   bigint      generated always as identity primary key,
    recorded   timestamptz not null default now(),
    call_id    bigint      not null, -- random, one per call
    number     int         not null, -- of the record among those of the call
    account    text        collate "C" not null, -- of the caller; empty: not proven, or an operator with access to the database
    credential smallint    not null, -- 0 none, 1 token, 2 shared access signature, 3 access to the database
    key        smallint    not null, -- that signed the credential: 1 first, 2 second; 0: not known
    method     text        collate "C" not null,
    target     text        collate "C" not null, -- names and ids; empty: none, or not read
    outcome    text        collate "C" not null, -- OK, or a reason
    left_out   bigint      not null, -- calls of the account without a record since its previous one
    unique (call_id, number)
);
create index audit_records_account on audit_records (account, audit_id);
create index audit_records_recorded on audit_records (recorded);
