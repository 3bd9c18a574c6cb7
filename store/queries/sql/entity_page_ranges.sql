-- SPDX-License-Identifier: Apache-2.0
-- A page of several ranges, in their order: in the partitions $2 and buckets $3 the row keys from
-- $4 on and below $5 (arrays of one length). Bounds on rows and bytes as in entity_page. Each range
-- is one search of the primary key.
-- Names $8 as in entity_page.
select e.partition_key, e.row_key, e.version, e.ts, e.dead or is_due(e.expires),
    case when e.spread is not null
            then spread_properties(e.table_id, e.partition_key, e.row_key, e.bucket, e.spread, $7::int4, $8::text[])
        when octet_length(e.properties) <= $7::int4 then e.properties end, e.expires
from unnest($2::text[], $3::int2[], $4::text[], $5::text[]) with ordinality u(p, b, low, high, n)
cross join lateral (
    select x.table_id, x.partition_key, x.row_key, x.bucket, x.version, x.ts, x.dead, x.properties, x.expires, x.spread
    from entities x
    where x.table_id = $1::int8 and x.partition_key = u.p and x.bucket = u.b
      and x.row_key >= u.low and x.row_key < u.high
    order by x.row_key
    limit $6::int8
) e
order by u.n, e.row_key
limit $6::int8
