-- SPDX-License-Identifier: Apache-2.0
-- short_ranges, the last rows of each range, last row first.
select u.n, c.version, e.row_key, e.version, e.ts, e.dead or is_due(e.expires), octet_length(e.properties),
    substring(e.properties for u.most::int4), e.expires
from catalogue c
cross join unnest($1::int8[], $2::text[], $3::int2[], $4::text[], $5::text[], $6::int8[], $7::int8[])
    with ordinality u(t, p, b, low, high, rows, most, n)
left join lateral (
    select x.row_key, x.version, x.ts, x.dead, x.properties, x.expires
    from entities x
    where x.table_id = u.t and x.partition_key = u.p and x.bucket = u.b and x.row_key >= u.low and x.row_key < u.high
    order by x.row_key desc
    limit u.rows
) e on true
