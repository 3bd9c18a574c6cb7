-- SPDX-License-Identifier: Apache-2.0
-- The number of open intents in the bucket ranges $1, of $2 buckets each, per queue (of $3 queues)
-- and kind. The table is read in storage order, which takes a tenth of the time of any index. Of a table above 4 MB
-- random pages of that size are read, and the number is estimated: rows that were deleted since the last vacuum take
-- up to 2 us each, and 32 MB of them kept a processor busy for half a second.
select i.bucket / $2::int4, i.bucket % $3::int4, i.kind,
    (count(*) * greatest(1, pg_relation_size('intents') / 4194304.0))::int8
from intents i tablesample system (100 / greatest(1, pg_relation_size('intents') / 4194304.0))
where i.bucket / $2::int4 = any ($1::int2[]::int4[])
group by 1, 2, 3
