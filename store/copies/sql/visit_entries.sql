-- SPDX-License-Identifier: Apache-2.0
-- The next entries of a source's dependents: $1 the rule's index, $2 their partition key, $3 its bucket, $4 behind this
-- row key, at most $5.
select e.row_key, e.properties
from entities e
where e.table_id = $1::int8 and e.partition_key = $2::text and e.bucket = $3::int2 and e.row_key > $4::text
    and not e.dead
order by e.row_key
limit $5::int8
