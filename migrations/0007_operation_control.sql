-- SPDX-License-Identifier: Apache-2.0
-- Operations that work on what a filter says, and that are held back.
alter table operations
    add column filter text   not null default '',
    add column rate   bigint not null default 0;     -- rows a second; 0: as fast as it goes
