-- An account's indexes by folded name, with what is known of their state. $1 account, $2 behind this name,
-- $3 only this name unless it is empty, $4 how many. Dead letters: the index's own, and those of whole keys.
-- Open intents of the source are counted up to 10,001.
select i.folded, i.definition, i.state,
    (select count(*) from entities e where e.table_id = i.index_id and not e.dead),
    (select count(*) from dead_letters d where d.kind = 1 and d.table_id = i.source_table_id
        and d.dead and d.index_id in (i.index_id, 0)),
    (select count(*) from dead_letters d where d.kind = 1 and d.table_id = i.source_table_id
        and d.dead and d.index_id = 0),
    (select count(*) from (select 1 from intents t where t.table_id = i.source_table_id limit 10001) open),
    (select min(as_of) from watermarks),
    (extract(epoch from now()) * 1000000)::int8,
    o.operation_id, o.kind, o.target, o.state, o.done, o.total, o.started, o.ended, o.error
from (
    select * from indexes
    where account = $1::text and folded > $2::text and ($3::text = '' or folded = $3::text) and state <> 4
    order by folded
    limit $4::int8
) i
join operations o on o.operation_id = i.operation_id
order by i.folded
