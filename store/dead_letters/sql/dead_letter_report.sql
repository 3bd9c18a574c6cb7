-- SPDX-License-Identifier: Apache-2.0
-- Work has reported, if only that it could not be done now: kind, table id, partition key, row key, bucket.
update dead_letters
set deliveries = 0, next_try = now()
where kind = $1::int2 and table_id = $2::int8 and partition_key = $3::text and row_key = $4::text
    and bucket = $5::int2 and index_id = 0 and not dead
