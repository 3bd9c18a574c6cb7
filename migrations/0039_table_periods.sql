-- SPDX-License-Identifier: Apache-2.0
-- A table may keep tables of periods: workers make those of the coming periods and drop those of
-- the past. period: its unit (0 none, 1 hour, 2 day, 3 month, 4 year); see domain/catalogue/table_periods.h.
-- programs: 36
-- locks: tables moment
alter table tables
    add column period smallint not null default 0,
    add column periods_ahead smallint not null default 0,
    add column periods_kept smallint not null default 0;

-- The tables with a rule are few among many.
create index tables_with_periods on tables (account, folded) where live and period <> 0;
