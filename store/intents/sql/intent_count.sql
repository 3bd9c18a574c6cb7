-- SPDX-License-Identifier: Apache-2.0
-- How many intents are open of the bucket ranges $1, each of $2 buckets, per queue, of $3, and kind. Read as they lie,
-- which takes a tenth of the time of any index; of a large table a part is read, pages by chance, and the rest
-- estimated.
select i.bucket / $2::int4, i.bucket % $3::int4, i.kind,
    (count(*) * sample_factor('intents'))::int8
from intents i tablesample system (100 / sample_factor('intents'))
where i.bucket / $2::int4 = any ($1::int2[]::int4[])
group by 1, 2, 3
