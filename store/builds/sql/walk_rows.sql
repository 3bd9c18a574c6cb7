-- SPDX-License-Identifier: Apache-2.0
-- Entities of a table in key order, for a build or a verification: key, version, ts, expires (0: never) and
-- properties (null if they have more than $6 bytes). $1 table id; from key ($2, $3) on, or strictly
-- behind it if $4; at most $5 rows. $7 names of properties: those of a spread entity come from the
-- parts that can have them (guard G62).
select e.partition_key, e.row_key, e.version, e.ts, coalesce(e.expires, 0),
    case when e.spread is not null
            then spread_properties(e.table_id, e.partition_key, e.row_key, e.bucket, e.spread, $6::int8::int4, $7::text[])
        when octet_length(e.properties) <= $6::int8 then e.properties end
from entities e
where e.table_id = $1::int8
  and (e.partition_key, e.row_key) >= ($2::text, $3::text)
  and (not $4::bool or (e.partition_key, e.row_key) > ($2::text, $3::text))
  and not e.dead
order by e.partition_key, e.row_key
limit $5::int8
