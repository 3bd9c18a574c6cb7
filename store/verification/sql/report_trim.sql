-- SPDX-License-Identifier: Apache-2.0
-- Delete the differences of report $1 with numbers above $2, the last one that the report keeps,
-- once they were checked.
delete from index_differences where operation_id = $1::text and number > $2::int8 and state <> 0
