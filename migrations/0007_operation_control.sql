-- SPDX-License-Identifier: Apache-2.0
-- Operations on the entities that match a filter, and operations that are paused or throttled.
alter table operations
    add column filter text   not null default '',
    add column rate   bigint not null default 0;     -- rows per second; 0: no limit
