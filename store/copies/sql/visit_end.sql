-- SPDX-License-Identifier: Apache-2.0
-- End the visit of a source with the intents that it covers (guard G71): $1 the rule's index, $2 partition key, $3 row
-- key. By primary keys. Returns how many intents are done.
with visit as (
    delete from copy_visits
    where index_id = $1::int8 and partition_key = $2::text and row_key = $3::text
    returning bucket, covers),
done as (
    delete from intents i
    using visit v cross join unnest(v.covers) c(id)
    where i.bucket = any (array[v.bucket]) and i.id = c.id
    returning 1)
select count(*) from done
