-- SPDX-License-Identifier: Apache-2.0
-- The number of entities of table $1.
select count(*) from entities where table_id = $1::int8 and not dead
