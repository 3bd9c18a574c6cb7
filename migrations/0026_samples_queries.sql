-- SPDX-License-Identifier: Apache-2.0
-- Whether servers keep the shapes of a table's queries. Locks the table `tables` for a moment.

alter table tables add column samples_queries boolean not null default false;
