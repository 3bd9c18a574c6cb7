-- SPDX-License-Identifier: Apache-2.0
-- What lies in the pages of entities from $1 to before $2: per table its id, live rows, and bytes of their keys and
-- properties, in the order of the ids. Properties that lie apart are not fetched for their length. A scan of these pages alone.
select e.table_id, count(*),
    sum(octet_length(e.partition_key) + octet_length(e.row_key) + octet_length(e.properties))::int8
from entities e
where e.ctid >= ('(' || $1::int8 || ',0)')::tid and e.ctid < ('(' || $2::int8 || ',0)')::tid and not e.dead
group by e.table_id
order by e.table_id
