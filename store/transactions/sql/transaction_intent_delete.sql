-- SPDX-License-Identifier: Apache-2.0
-- Delete the intent of a transaction that has ended. $1 bucket, $2 account, $3 id.
delete from intents
where table_id = 0 and partition_key = $2::text and row_key = $3::text and bucket = $1::int2 and kind = 2
