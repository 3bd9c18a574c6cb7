-- SPDX-License-Identifier: Apache-2.0
-- Lock the visit of a source: $1 the rule's index, $2 partition key, $3 row key. No row: there is none, or another
-- worker is at it.
select visited_to from copy_visits
where index_id = $1::int8 and partition_key = $2::text and row_key = $3::text
for update skip locked
