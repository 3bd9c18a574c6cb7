-- SPDX-License-Identifier: Apache-2.0
-- The number of open intents in the bucket ranges $1, of $2 buckets each, per queue (of $3 queues)
-- and kind. The table is read in storage order, which takes a tenth of the time of any index; of a
-- large table a random part of the pages is read, and the number is estimated.
select i.bucket / $2::int4, i.bucket % $3::int4, i.kind,
    (count(*) * sample_factor('intents'))::int8
from intents i tablesample system (100 / sample_factor('intents'))
where i.bucket / $2::int4 = any ($1::int2[]::int4[])
group by 1, 2, 3
