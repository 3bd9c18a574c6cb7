-- SPDX-License-Identifier: Apache-2.0
-- Whether servers sample the shapes of a table's queries. The table `tables` is locked for a
-- moment.

alter table tables add column samples_queries boolean not null default false;
