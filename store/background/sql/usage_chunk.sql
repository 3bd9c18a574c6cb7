-- SPDX-License-Identifier: Apache-2.0
-- The rows in the pages of `entities` from $1 to before $2, summed up for each table: its id, its
-- live rows, the bytes of their keys, properties and parts, and no account, in the order of table ids. The length of
-- properties that lie out of line is known without reading them. Only these pages are scanned.
select e.table_id, count(*),
    sum(octet_length(e.partition_key) + octet_length(e.row_key)
        + coalesce(e.spread, octet_length(e.properties)))::int8,
    ''::text
from entities e
where e.ctid >= ('(' || $1::int8 || ',0)')::tid and e.ctid < ('(' || $2::int8 || ',0)')::tid and not e.dead
group by e.table_id
order by e.table_id
