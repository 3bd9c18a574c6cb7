-- SPDX-License-Identifier: Apache-2.0
-- As short_ranges, the last rows of each range, in descending order.
select u.n, case when u.n = 1 then c.version end, u.source = any (behind.tables), e.row_key, e.version,
    case when not e.dead and not is_due(e.expires) then e.ts end, e.expires,
    case when octet_length(e.properties) > u.most then octet_length(e.properties) end,
    case when octet_length(e.properties) <= u.most then e.properties end
from catalogue c
cross join (
    select array_agg(b.t) as tables
    from unnest($9::int8[]) b(t)
    where (select 1 from intents i where i.table_id = b.t limit 1) is not null
        or (select 1 from dead_letters d where d.kind = 1 and d.table_id = b.t limit 1) is not null
) behind
cross join unnest($1::int8[], $2::text[], $3::int2[], $4::text[], $5::text[], $6::int8[], $7::int8[], $8::int8[])
    with ordinality u(t, p, b, low, high, rows, most, source, n)
left join lateral (
    select x.row_key, x.version, x.ts, x.dead, x.properties, x.expires
    from entities x
    where x.table_id = u.t and x.partition_key = u.p and x.bucket = u.b
        and x.row_key >= u.low and x.row_key < case when u.high = '' then $10::text else u.high end
    order by x.row_key desc
    limit u.rows
) e on true
