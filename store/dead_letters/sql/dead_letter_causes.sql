-- SPDX-License-Identifier: Apache-2.0
-- The number of dead letters per cause, with the id of one of them, the most frequent cause first.
-- A cause ends at its first colon: details follow it. Parameters $1 to $10: see dead_letter_list.
-- Times in ticks.
select split_part(d.cause, ':', 1), count(*), min(d.dead_letter_id),
    ((extract(epoch from min(d.first_failed)) + 11644473600) * 10000000)::int8,
    ((extract(epoch from max(d.last_failed)) + 11644473600) * 10000000)::int8
from dead_letters d
left join tables t on t.table_id = d.table_id
where d.dead_letter_id > $1::int8
    and case when d.discarded then 3 when d.dead then 1 else 2 end = $2::int2
    and ($3::int2 = 0 or d.kind = $3::int2)
    and ($4::text = '' or split_part(coalesce(t.account, d.partition_key), '#', 1) = $4::text)
    and ($5::text = '' or t.folded = $5::text)
    and starts_with(d.cause, $6::text)
    and (cardinality($7::int8[]) = 0 or d.dead_letter_id = any ($7::int8[]))
    and ($8::int4 < 0 or d.bucket % $9::int4 = $8::int4)
group by 1
order by 2 desc, 1
limit $10::int8
