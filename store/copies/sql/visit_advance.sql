-- SPDX-License-Identifier: Apache-2.0
-- Note in the commit that copies how far the visit of a source has come: $1 the rule's index, $2 partition key, $3 row
-- key, $4 the row key of the last entry, $5 how many dependents more.
update copy_visits set visited_to = $4::text, visited = visited + $5::int8
where index_id = $1::int8 and partition_key = $2::text and row_key = $3::text
