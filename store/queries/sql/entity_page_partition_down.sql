-- SPDX-License-Identifier: Apache-2.0
-- As entity_page_partition, in descending order.
select e.partition_key, e.row_key, e.version, e.ts, e.dead or is_due(e.expires),
    case when e.spread is not null
            then spread_properties(e.table_id, e.partition_key, e.row_key, e.bucket, e.spread, $7::int4, $8::text[])
        when octet_length(e.properties) <= $7::int4 then e.properties end, e.expires
from entities e
where e.table_id = $1::int8 and e.partition_key = $2::text and e.bucket = $3::int2
  and e.row_key >= $4::text and e.row_key < $5::text
order by e.row_key desc
limit $6::int8
