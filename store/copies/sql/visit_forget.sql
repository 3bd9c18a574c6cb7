-- SPDX-License-Identifier: Apache-2.0
-- Forget the visit of a source, whose rule does not exist any more, with all its intents: $1 the rule's index, $2
-- partition key, $3 row key, $4 bucket. By intents_key, as visit_begin.
with visit as (
    delete from copy_visits where index_id = $1::int8 and partition_key = $2::text and row_key = $3::text)
delete from intents i
using (
    select k.id, k.kind from intents k
    where k.table_id = $1::int8 and k.partition_key = $2::text and k.row_key = $3::text and k.bucket = $4::int2
    offset 0) x
where x.kind = 4 and i.bucket = $4::int2 and i.id = x.id
