-- SPDX-License-Identifier: Apache-2.0
-- A table's settings for its queries.

-- The most expensive access path of a query without a max_plan, by its number in the API; 0: no
-- bound.
alter table tables add column default_max_plan smallint not null default 0;
