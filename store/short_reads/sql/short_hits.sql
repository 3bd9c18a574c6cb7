-- SPDX-License-Identifier: Apache-2.0
-- The first index entries of many ranges, read as in short_ranges, and the live entity that each
-- entry belongs to, in one snapshot. The parameters are those of short_ranges; $7: if the
-- properties of an entity have more bytes, they come as null.
--
-- An entry's properties begin with the keys of its source, as index_plan.c writes them: each key is
-- a record of a tag, the record's length, a name of 19 or 13 bytes and the text, whose length is in
-- the byte before it. As long as a record is shorter than 128 bytes, every length is one byte, so
-- the first key is the get_byte(head, 26) bytes from byte 27 on, and the other key begins 21 bytes
-- behind it. The entity is searched by these keys, and the two records come with it (named); they
-- are null if a record is longer. size: of all properties of the entry; -1 - size if the entry is
-- dead or has expired. The primary key is searched once for each range, and once for each entry; a
-- key is in one bucket only.
select u.n, case when u.n = 1 then c.version end, u.source = any (behind.tables), e.row_key,
    s.version, s.ts, s.expires, e.size,
    case when octet_length(s.properties) <= u.most then s.properties end,
    substring(e.head for 48 + get_byte(e.head, 26) + get_byte(e.head, 47 + get_byte(e.head, 26)))
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
    select z.row_key, case when z.head is null then -1 - z.size else z.size end as size,
        case when octet_length(z.head) > 47 and get_byte(z.head, 1) < 128
            and get_byte(z.head, 28 + get_byte(z.head, 26)) < 128 then z.head end as head
    from (
        select x.row_key, octet_length(x.properties) as size,
            case when not x.dead and not is_due(x.expires) then substring(x.properties for 256) end as head
        from entities x
        where x.table_id = u.t and x.partition_key = u.p and x.bucket = u.b
            and x.row_key >= u.low and x.row_key < case when u.high = '' then $10::text else u.high end
        order by x.row_key
        limit u.rows
    ) z
) e on true
left join lateral (
    select y.version, y.ts, y.properties, y.expires
    from entities y
    where y.table_id = u.source
        and y.partition_key = convert_from(substring(e.head from 28 for get_byte(e.head, 26)), 'UTF8')
        and y.row_key = convert_from(substring(e.head from 49 + get_byte(e.head, 26)
            for get_byte(e.head, 47 + get_byte(e.head, 26))), 'UTF8')
        and not y.dead and not is_due(y.expires)
    offset 0
) s on true
