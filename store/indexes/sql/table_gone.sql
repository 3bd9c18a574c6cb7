-- SPDX-License-Identifier: Apache-2.0
-- Remove the row of the deleted table $1, the last of its rows.
delete from tables where table_id = $1::int8 and not live
