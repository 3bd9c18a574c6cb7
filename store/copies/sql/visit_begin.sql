-- SPDX-License-Identifier: Apache-2.0
-- Begin the visit of a source, unless it is under way or nothing asks for it: $1 the rule's index, $2 partition key, $3
-- row key, $4 bucket. It covers the intents that are open now, of which the first ten thousand count; later ones ask for
-- another visit (guard G71).
insert into copy_visits (index_id, partition_key, row_key, bucket, covers)
select $1::int8, $2::text, $3::text, $4::int2, o.ids
from (
    select array_agg(i.id) as ids
    from (
        select x.id from intents x
        where x.table_id = $1::int8 and x.partition_key = $2::text and x.row_key = $3::text and x.bucket = $4::int2
            and x.kind = 4
        order by x.id
        limit 10000) i) o
where o.ids is not null
on conflict do nothing
