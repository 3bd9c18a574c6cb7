-- SPDX-License-Identifier: Apache-2.0
-- As chunk_keys, with the contents of the rows: ts, expires (0: never), properties (null if they
-- have more than $6 bytes), and version. $7 names of properties: those of a spread entity come from
-- the parts that can have them (guard G62).
select e.partition_key, e.row_key, octet_length(e.properties)::int8, e.ts, coalesce(e.expires, 0),
    case when e.spread is not null
            then spread_properties(e.table_id, e.partition_key, e.row_key, e.bucket, e.spread, $6::int8::int4, $7::text[])
        when octet_length(e.properties) <= $6::int8 then e.properties end, e.version
from entities e
where e.table_id = $1::int8
  and (e.partition_key, e.row_key) >= ($2::text, $3::text)
  and (not $4::bool or (e.partition_key, e.row_key) > ($2::text, $3::text))
  and not e.dead
order by e.partition_key, e.row_key
limit $5::int8
