-- SPDX-License-Identifier: Apache-2.0
-- The first rows of many ranges, each of one partition. $1 table ids, $2 partition keys, $3 buckets, $4 row keys from
-- which on and $5 below which, $6 rows of each, $7 bytes of properties of a row: arrays of one length. n is the position
-- in the arrays, from 1. The catalogue's version comes with every row, and with a range that has none. size: of all
-- properties of the row. Each range is one search of the primary key.
select u.n, c.version, e.row_key, e.version, e.ts, e.dead or is_due(e.expires), octet_length(e.properties),
    substring(e.properties for u.most::int4), e.expires
from catalogue c
cross join unnest($1::int8[], $2::text[], $3::int2[], $4::text[], $5::text[], $6::int8[], $7::int8[])
    with ordinality u(t, p, b, low, high, rows, most, n)
left join lateral (
    select x.row_key, x.version, x.ts, x.dead, x.properties, x.expires
    from entities x
    where x.table_id = u.t and x.partition_key = u.p and x.bucket = u.b and x.row_key >= u.low and x.row_key < u.high
    order by x.row_key
    limit u.rows
) e on true
