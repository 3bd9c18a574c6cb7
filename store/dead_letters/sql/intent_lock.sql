-- SPDX-License-Identifier: Apache-2.0
-- Lock the open intents of work for a copy rule: $1 kind, $2 the id of the rule's index, $3 partition key, $4 row key,
-- $5 bucket; of very many the first ten thousand. By intents_key: an array of buckets keeps the primary key out, which
-- would list the bucket in the order of ids.
select i.id
from intents i
where i.table_id = $2::int8 and i.partition_key = $3::text and i.row_key = $4::text and i.bucket = any (array[$5::int2])
    and i.kind = $1::int2
order by i.id
limit 10000
for update
