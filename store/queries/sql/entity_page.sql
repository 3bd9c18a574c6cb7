-- SPDX-License-Identifier: Apache-2.0
-- A page of a table in ascending order: keys from ($2, $3) on and below ($4, $5), at most $6 rows.
-- Properties with more than $7 bytes come as null, so that a page has at most $6 * $7 bytes of
-- them. $8: names of properties: those of a spread entity come from the parts that can have them;
-- null: all.
select e.partition_key, e.row_key, e.version, e.ts, e.dead or is_due(e.expires),
    case when e.spread is not null
            then spread_properties(e.table_id, e.partition_key, e.row_key, e.bucket, e.spread, $7::int4, $8::text[])
        when octet_length(e.properties) <= $7::int4 then e.properties end, e.expires
from entities e
where e.table_id = $1::int8
  and (e.partition_key, e.row_key) >= ($2::text, $3::text)
  and (e.partition_key, e.row_key) < ($4::text, $5::text)
order by e.partition_key, e.row_key
limit $6::int8
