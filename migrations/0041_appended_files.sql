-- SPDX-License-Identifier: Apache-2.0
-- Files that steps of transactions append to. The table says which ranges of a file are given away: each to one step,
-- for ever (guard G52).
-- programs: 36
-- locks: none
create table appended_files (
    bucket  smallint not null,             -- of the path
    account text     collate "C" not null, -- its id
    path    text     collate "C" not null,
    size    bigint   not null,             -- where the next range begins
    settled bigint   not null default 0,   -- steps that are done have written up to here, or beyond
    primary key (account, path, bucket)
);
