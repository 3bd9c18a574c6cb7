-- SPDX-License-Identifier: Apache-2.0
-- The end of a deleted table. $1 table id.
delete from tables where table_id = $1::int8 and not live
