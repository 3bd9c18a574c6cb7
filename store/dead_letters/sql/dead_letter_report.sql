-- SPDX-License-Identifier: Apache-2.0
-- Work on a key has ended without a result: $1 kind, $2 table id, $3 partition key, $4 row key, $5
-- bucket. The count of deliveries begins at 0 again, and the next try is allowed at once.
update dead_letters
set deliveries = 0, next_try = now()
where kind = $1::int2 and table_id = $2::int8 and partition_key = $3::text and row_key = $4::text
    and bucket = $5::int2 and index_id = 0 and not dead
