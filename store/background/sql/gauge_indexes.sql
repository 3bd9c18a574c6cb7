-- SPDX-License-Identifier: Apache-2.0
-- For metrics: a row for each index that is not being dropped and is not a replacement, the oldest
-- index first: account; name; how many microseconds its oldest open intent has waited (0: none is
-- open); its dead letters that are not discarded; those that are discarded, in both cases with
-- those of whole keys; its declaration; when it was last proven as a whole, in microseconds since
-- 1970 (0: never); and the number of differences that were found and not repaired. At most 10,001
-- open intents of a table are read. If there are more, the wait counts from the oldest of these or
-- from the watermark, whichever is older. Dead letters are counted up to $1, see index_dead_letters.
with sources as materialized (
    select s.table_id, case when open.n > 10000
            then least(open.oldest, (select min(w.as_of) / 10 - 11644473600000000 from watermarks w where w.as_of > 0))
            else open.oldest end as oldest
    from (select distinct i.source_table_id as table_id from indexes i where i.state <> 4) s
    cross join lateral (
        select count(*) as n, min(intent_created_us(t.id)) as oldest
        from (select t.id from intents t where t.table_id = s.table_id limit 10001) t) open)
select split_part(i.account, '#', 1), i.name, coalesce(greatest(0, (extract(epoch from now()) * 1000000)::int8 - s.oldest), 0),
    l.n - l.discarded, l.discarded, i.definition,
    coalesce((extract(epoch from v.proven) * 1000000)::int8, 0), coalesce(v.differences, 0)
from indexes i
join sources s on s.table_id = i.source_table_id
left join index_scrubs v on v.index_id = i.index_id
cross join lateral index_dead_letters(i.source_table_id, i.index_id, $1::int8) l
where i.state <> 4 and i.replaces is null
order by i.index_id
