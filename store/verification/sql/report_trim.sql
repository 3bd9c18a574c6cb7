-- SPDX-License-Identifier: Apache-2.0
-- Differences beyond those that a report keeps, once they have been looked at. $1 operation id, $2 the last number that is kept.
delete from index_differences where operation_id = $1::text and number > $2::int8 and state <> 0
