-- SPDX-License-Identifier: Apache-2.0
-- As entity_get, for one key without arrays. $1 table id, $2 partition key, $3 row key, $4 bucket.
select 1::int8, c.version, e.version, e.ts, e.properties, e.expires
from catalogue c
left join entities e
    on e.table_id = $1::int8 and e.partition_key = $2::text and e.row_key = $3::text and e.bucket = $4::int2
    and not e.dead and not is_due(e.expires)
