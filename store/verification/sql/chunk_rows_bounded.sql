-- SPDX-License-Identifier: Apache-2.0
-- As chunk_rows, but the properties come with the first row, and with each later row as long as the
-- properties of all rows so far have at most $6 bytes together; otherwise they are null. The sum
-- costs as much as reading the rows.
select e.partition_key, e.row_key, octet_length(e.properties)::int8, e.ts, coalesce(e.expires, 0),
    case when sum(octet_length(e.properties)) over (order by e.partition_key, e.row_key rows unbounded preceding)
            <= greatest($6::int8, octet_length(e.properties))
        then e.properties end, e.version
from entities e
where e.table_id = $1::int8
  and (e.partition_key, e.row_key) >= ($2::text, $3::text)
  and (not $4::bool or (e.partition_key, e.row_key) > ($2::text, $3::text))
  and not e.dead
order by e.partition_key, e.row_key
limit $5::int8
