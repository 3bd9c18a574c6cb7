-- SPDX-License-Identifier: Apache-2.0
-- The number of pages of the table of entities.
select pg_relation_size('entities') / current_setting('block_size')::int8
