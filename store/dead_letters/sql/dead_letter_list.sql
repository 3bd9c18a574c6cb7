-- SPDX-License-Identifier: Apache-2.0
-- Dead letters in the order of their ids: those with a greater id than $1, in the state $2 (1 dead,
-- 2 retrying, 3 discarded), of the kind $3 (0: any), the account with the name $4, the table with
-- the folded name $5, with a cause that begins with $6 (each '' for any), with an id in $7 (empty:
-- any), from the queue $8 of $9 queues (below 0: any); at most $10 rows. Times in ticks.
select d.dead_letter_id, d.kind, d.bucket, d.table_id, coalesce(t.account, d.partition_key), coalesce(t.name, ''),
    d.partition_key, d.row_key, coalesce(i.name, ''), d.failures, d.cause, d.history, d.note,
    ((extract(epoch from d.first_failed) + 11644473600) * 10000000)::int8,
    ((extract(epoch from d.last_failed) + 11644473600) * 10000000)::int8
from dead_letters d
left join tables t on t.table_id = d.table_id
left join indexes i on i.index_id = d.index_id and d.index_id <> 0
where d.dead_letter_id > $1::int8
    and case when d.discarded then 3 when d.dead then 1 else 2 end = $2::int2
    and ($3::int2 = 0 or d.kind = $3::int2)
    and ($4::text = '' or split_part(coalesce(t.account, d.partition_key), '#', 1) = $4::text)
    and ($5::text = '' or t.folded = $5::text)
    and starts_with(d.cause, $6::text)
    and (cardinality($7::int8[]) = 0 or d.dead_letter_id = any ($7::int8[]))
    and ($8::int4 < 0 or d.bucket % $9::int4 = $8::int4)
order by d.dead_letter_id
limit $10::int8
