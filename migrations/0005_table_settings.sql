-- SPDX-License-Identifier: Apache-2.0
-- What a table says about its queries.

-- The costliest access path of a query that says nothing itself, by its number in the API; 0: no bound.
alter table tables add column default_max_plan smallint not null default 0;
