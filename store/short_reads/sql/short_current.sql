-- SPDX-License-Identifier: Apache-2.0
-- The first index entries of many ranges, of indexes that keep versions, in one snapshot. The
-- parameters and columns are those of short_ranges, and named. The third column says for each range
-- whether something is open: its table in $8 is in $9, and has an intent or a dead letter. If not,
-- its rows are entries, as in short_ranges (guard G58); otherwise they are hits, as in short_hits.
-- $8 is 0 for entries that are never behind. Only one half of the union is run for a range, since
-- the condition on is_behind does not depend on rows.
select u.n, case when u.n = 1 then c.version end, u.is_behind, e.row_key,
    e.version, e.ts, e.expires, e.size, e.properties, e.named
from catalogue c
cross join (
    select array_agg(b.t) as tables
    from unnest($9::int8[]) b(t)
    where (select 1 from intents i where i.table_id = b.t limit 1) is not null
        or (select 1 from dead_letters d where d.kind = 1 and d.table_id = b.t limit 1) is not null
) behind
cross join lateral (
    select a.t, a.p, a.b, a.low, a.high, a.rows, a.most, a.source, a.n,
        coalesce(a.source = any (behind.tables), false) as is_behind
    from unnest($1::int8[], $2::text[], $3::int2[], $4::text[], $5::text[], $6::int8[], $7::int8[], $8::int8[])
        with ordinality a(t, p, b, low, high, rows, most, source, n)
    offset 0
) u
left join lateral (
    (
        select x.row_key, x.version, case when not x.dead and not is_due(x.expires) then x.ts end as ts, x.expires,
            case when octet_length(x.properties) > u.most then octet_length(x.properties) end as size,
            case when octet_length(x.properties) <= u.most then x.properties end as properties,
            null::bytea as named
        from entities x
        where not u.is_behind and x.table_id = u.t and x.partition_key = u.p and x.bucket = u.b
            and x.row_key >= u.low and x.row_key < case when u.high = '' then $10::text else u.high end
        order by x.row_key
        limit u.rows
    )
    union all
    (
        select h.row_key, s.version, s.ts, s.expires, h.size,
            case when octet_length(s.properties) <= u.most then s.properties end,
            substring(h.head for 48 + get_byte(h.head, 26) + get_byte(h.head, 47 + get_byte(h.head, 26)))
        from (
            select z.row_key, case when z.head is null then -1 - z.size else z.size end as size,
                case when octet_length(z.head) > 47 and get_byte(z.head, 1) < 128
                    and get_byte(z.head, 28 + get_byte(z.head, 26)) < 128 then z.head end as head
            from (
                select x.row_key, octet_length(x.properties) as size,
                    case when not x.dead and not is_due(x.expires) then substring(x.properties for 256) end as head
                from entities x
                where u.is_behind and x.table_id = u.t and x.partition_key = u.p and x.bucket = u.b
                    and x.row_key >= u.low and x.row_key < case when u.high = '' then $10::text else u.high end
                order by x.row_key
                limit u.rows
            ) z
        ) h
        left join lateral (
            select y.version, y.ts, y.properties, y.expires
            from entities y
            where y.table_id = u.source
                and y.partition_key = convert_from(substring(h.head from 28 for get_byte(h.head, 26)), 'UTF8')
                and y.row_key = convert_from(substring(h.head from 49 + get_byte(h.head, 26)
                    for get_byte(h.head, 47 + get_byte(h.head, 26))), 'UTF8')
                and not y.dead and not is_due(y.expires)
            offset 0
        ) s on true
    )
) e on true
