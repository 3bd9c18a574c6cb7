-- SPDX-License-Identifier: Apache-2.0
-- Begin the visit of a source, unless it is under way or nothing asks for it: $1 the rule's index, $2 partition key, $3
-- row key, $4 bucket. It covers the intents that are open now, of which the first ten thousand count; later ones ask for
-- another visit (guard G71). Each commit of a visit begins so; under way, it does not look at the intents.
-- By intents_key: with statistics of an emptier table, the index intents_of_rules would seem as good, and lists the
-- intents of all sources of the bucket.
insert into copy_visits (index_id, partition_key, row_key, bucket, covers)
select $1::int8, $2::text, $3::text, $4::int2, o.ids
from (
    select array_agg(i.id) as ids
    from (
        select x.id
        from (
            select k.id, k.kind from intents k
            where k.table_id = $1::int8 and k.partition_key = $2::text and k.row_key = $3::text and k.bucket = $4::int2
            offset 0) x
        where x.kind = 4
        order by x.id
        limit 10000) i) o
where o.ids is not null
    and not exists (
        select from copy_visits v
        where v.index_id = $1::int8 and v.partition_key = $2::text and v.row_key = $3::text)
on conflict do nothing
