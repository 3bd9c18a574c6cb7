-- SPDX-License-Identifier: Apache-2.0
-- Forget the visit of a source, whose rule does not exist any more, with all its intents: $1 the rule's index, $2
-- partition key, $3 row key, $4 bucket.
with visit as (
    delete from copy_visits where index_id = $1::int8 and partition_key = $2::text and row_key = $3::text)
delete from intents
where table_id = $1::int8 and partition_key = $2::text and row_key = $3::text and bucket = $4::int2 and kind = 4
