-- SPDX-License-Identifier: Apache-2.0
-- How many dependents the visit of a source has still to look at, up to $6: $1 the rule's index, $2 partition key of the
-- source, $3 its row key, $4 the partition key of the dependents' entries, $5 its bucket. A visit that has
-- not begun looks at all of them.
select count(*)
from (
    select 1
    from entities e
    where e.table_id = $1::int8 and e.partition_key = $4::text and e.bucket = $5::int2 and not e.dead
        and e.row_key > coalesce((
            select v.visited_to from copy_visits v
            where v.index_id = $1::int8 and v.partition_key = $2::text and v.row_key = $3::text), '')
    limit $6::int8) x
