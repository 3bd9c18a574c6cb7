-- SPDX-License-Identifier: Apache-2.0
-- Allow the next try of a key in $6 milliseconds: $1 kind, $2 table id, $3 partition key, $4 row
-- key, $5 bucket.
update dead_letters
set next_try = now() + $6::int8 * interval '1 millisecond'
where kind = $1::int2 and table_id = $2::int8 and partition_key = $3::text and row_key = $4::text
    and bucket = $5::int2 and index_id = 0 and not dead
