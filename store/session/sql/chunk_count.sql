-- SPDX-License-Identifier: Apache-2.0
-- How many entities a table has. $1 table id.
select count(*) from entities where table_id = $1::int8 and not dead
