-- SPDX-License-Identifier: Apache-2.0
-- Delete the dead letter of a visit that goes on: $1 the rule's index, $2 partition key, $3 row key, $4 bucket. Usually
-- the table has none, and one search shows that.
delete from dead_letters d
where d.kind = 4 and d.table_id = $1::int8 and d.partition_key = $2::text and d.row_key = $3::text
    and d.bucket = $4::int2 and exists (select from dead_letters where kind = 4)
