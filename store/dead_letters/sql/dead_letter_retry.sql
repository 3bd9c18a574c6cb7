-- SPDX-License-Identifier: Apache-2.0
-- Nobody tries this key again before $6 milliseconds have passed: kind, table id, partition key, row key, bucket.
update dead_letters
set next_try = now() + $6::int8 * interval '1 millisecond'
where kind = $1::int2 and table_id = $2::int8 and partition_key = $3::text and row_key = $4::text
    and bucket = $5::int2 and index_id = 0 and not dead
