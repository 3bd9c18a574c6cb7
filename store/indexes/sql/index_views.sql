-- SPDX-License-Identifier: Apache-2.0
-- An account's indexes by folded name, with their state and the operation that builds a
-- replacement. $1 account, $2 behind this name, $3 only this name unless it is empty, $4 how many.
-- Three counts of dead letters: the index's own and those of whole keys; those of whole keys; the
-- discarded ones of both (see index_dead_letters). Then up to three causes of the index's own, out of 1000.
-- Open intents of the source table are counted up to 10,001, with the time of the oldest one, or an
-- earlier time, in microseconds since 1970. The rate of applied intents is in thousandths per
-- second. Of the work for a copy rule: sources that wait, dependents that open visits have looked at, dependents that
-- wait, each from at most 10,001 intents, and those that cannot have their copies. Dead letters and entries are counted
-- up to 100,000; the number of entries beyond that is estimated from a random sample of 32 MB of the table of entities.
with sample as materialized (
    select e.table_id, (count(*) * sample_factor('entities'))::int8 as n
    from entities e tablesample system (100 / sample_factor('entities'))
    where not e.dead
    group by 1)
select i.folded, i.definition, i.state,
    case when few.n <= 100000 then few.n
        else greatest(few.n, (select s.n from sample s where s.table_id = i.index_id)) end,
    letters.n, letters.of_keys, letters.discarded,
    (select coalesce(string_agg(c.cause, E'\n'), '') from (
        select distinct l.cause
        from (select d.cause from dead_letters d where d.kind = 1 and d.table_id = i.source_table_id
            and d.dead and not d.discarded and d.index_id = i.index_id
            union all
            select d.cause from dead_letters d where d.kind = 3 and d.table_id = i.index_id
            and d.dead and not d.discarded and d.index_id = i.index_id limit 1000) l
        order by 1 limit 3) c),
    open.n,
    case when open.n > 10000
        then least(open.oldest, (select min(w.as_of) / 10 - 11644473600000000 from watermarks w where w.as_of > 0))
        else open.oldest end,
    (select (coalesce(sum(r.per_second * exp(- abs(extract(epoch from now() - r.at)) / 10)), 0) * 1000)::int8
        from apply_rates r where r.table_id = i.source_table_id),
    (extract(epoch from now()) * 1000000)::int8,
    visits.sources, visits.visited, copies.n, copies.refused,
    o.operation_id, o.kind, o.target, o.state, o.done, o.total, o.started, o.ended, o.error,
    coalesce(b.operation_id, ''), b.kind, b.target, b.state, b.done, b.total, b.started, b.ended, b.error,
    coalesce(v.operation_id, ''), v.target, v.repairs, v.dry_run, v.is_whole, v.state, v.started, v.ended, v.sources, v.entries,
    v.in_flight, v.missing, v.dangling, v.mismatched, v.manifests, v.mended, v.remaining, v.is_fast, v.copies
from (
    select * from indexes
    where account = $1::text and folded > $2::text and ($3::text = '' or folded = $3::text)
        and state <> 4 and replaces is null
    order by folded
    limit $4::int8
) i
cross join lateral (
    select count(*) as n
    from (select from entities e where e.table_id = i.index_id and not e.dead limit 100001) e) few
cross join lateral (
    select count(*) as n, min(intent_created_us(t.id)) as oldest
    from (select t.id from intents t where t.table_id = i.source_table_id limit 10001) t) open
cross join lateral (
    select (select count(*) from (
            select distinct t.partition_key, t.row_key
            from (select x.partition_key, x.row_key from intents x where x.table_id = i.index_id and x.kind = 4 limit 10001) t) k) as sources,
        (select coalesce(sum(c.visited), 0)::int8 from copy_visits c where c.index_id = i.index_id) as visited) visits
cross join lateral (
    select (select count(*) from (
            select distinct t.partition_key, t.row_key
            from (select x.partition_key, x.row_key from intents x where x.table_id = i.index_id and x.kind = 3 limit 10001) t) k) as n,
        (select count(*)
        from (select from dead_letters d
            where d.kind = 3 and d.dead and not d.discarded and d.table_id = i.index_id limit 100000) d) as refused) copies
cross join lateral index_dead_letters(i.source_table_id, i.index_id, 100000) letters
join operations o on o.operation_id = i.operation_id
left join indexes n on n.replaces = i.index_id and n.state <> 4
left join operations b on b.operation_id = n.operation_id
left join lateral (
    select r.*, p.target, p.state, p.started, p.ended
    from index_reports r join operations p on p.operation_id = r.operation_id
    where r.index_id = i.index_id and r.is_whole and not r.repairs and p.state = 3
    order by p.ended desc
    limit 1) v on true
order by i.folded
