-- SPDX-License-Identifier: Apache-2.0
-- The id of a new build of an index, and of its entries' table; never reused.
select nextval('table_ids')
