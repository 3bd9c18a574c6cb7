-- SPDX-License-Identifier: Apache-2.0
-- The rows of table $1 at the keys $2, $3 in the buckets $4 (arrays of one length), in their order.
-- Properties with more than $5 bytes come as null.
-- Names $6 as in entity_page.
select e.partition_key, e.row_key, e.version, e.ts, e.dead or is_due(e.expires),
    case when e.spread is not null
            then spread_properties(e.table_id, e.partition_key, e.row_key, e.bucket, e.spread, $5::int4, $6::text[])
        when octet_length(e.properties) <= $5::int4 then e.properties end, e.expires
from unnest($2::text[], $3::text[], $4::int2[]) with ordinality u(p, r, b, n)
cross join lateral (
    select x.table_id, x.partition_key, x.row_key, x.bucket, x.version, x.ts, x.dead, x.properties, x.expires, x.spread
    from entities x
    where x.table_id = $1::int8 and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b
    offset 0
) e
order by u.n
