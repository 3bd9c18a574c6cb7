-- SPDX-License-Identifier: Apache-2.0
-- Delete the dead letter of a transaction, since one of its steps has succeeded. $1 bucket, $2
-- account, $3 id.
delete from dead_letters
where kind = 2 and table_id = 0 and partition_key = $2::text and row_key = $3::text and index_id = 0
    and bucket = $1::int2
