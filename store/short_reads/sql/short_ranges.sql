-- SPDX-License-Identifier: Apache-2.0
-- The first rows of many ranges, each of one partition. Arrays of one length: $1 table ids, $2
-- partition keys, $3 buckets, row keys from $4 on and below $5, $6 number of rows, $7 bytes of
-- properties of a row, $8 the source table if the rows are index entries. n is the position in the
-- arrays, from 1. $9: tables; if $8 is one of them, the third column says whether its indexes may be
-- behind: true at least whenever open_sources would find a key. $10: a long text above every row
-- key, for ranges whose $5 is empty. Each range is one search of the primary key. Subqueries ask what
-- is open, not EXISTS, for which PostgreSQL may read all intents into a hash table.
--
-- A range is one row, since a row of the result costs both sides more than what is in it. heads: for
-- each row of the range, in order, four numbers of eight bytes and the row key (packed_rows.h). The
-- numbers: the length of the row key times 2^32 plus that of the properties; version; ts, or -1 if
-- the row is dead or has expired; expires, or 0. bodies: the properties of all rows, without those
-- that have more than $7 bytes. Both are null without rows.
select u.n, c.version, u.source = any (behind.tables), r.heads, r.bodies
from catalogue c
cross join (
    select array_agg(b.t) as tables
    from unnest($9::int8[]) b(t)
    where (select 1 from intents i where i.table_id = b.t limit 1) is not null
        or (select 1 from dead_letters d where d.kind = 1 and d.table_id = b.t limit 1) is not null
) behind
cross join unnest($1::int8[], $2::text[], $3::int2[], $4::text[], $5::text[], $6::int8[], $7::int8[], $8::int8[])
    with ordinality u(t, p, b, low, high, rows, most, source, n)
cross join lateral (
    select string_agg(int8send(octet_length(x.row_key) * 4294967296 + octet_length(x.properties))
        || int8send(x.version) || int8send(case when not x.dead and not is_due(x.expires) then x.ts else -1 end)
        || int8send(coalesce(x.expires, 0)) || textsend(x.row_key), null) as heads,
        string_agg(case when octet_length(x.properties) <= u.most then x.properties end, null) as bodies
    from (
        select e.row_key, e.version, e.ts, e.dead, e.expires, e.properties
        from entities e
        where e.table_id = u.t and e.partition_key = u.p and e.bucket = u.b
            and e.row_key >= u.low and e.row_key < case when u.high = '' then $10::text else u.high end
        order by e.row_key
        limit u.rows
    ) x
) r
