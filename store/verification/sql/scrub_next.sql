-- SPDX-License-Identifier: Apache-2.0
-- The index that is to be scrubbed next, if fewer than $1 passes are running: the one whose last
-- pass began longest ago, at least $2 seconds (or lies ahead, because the clock has been set back).
-- Columns: its number of passes so far, its known differences, and an id for the operation.
select n.index_id, n.passes, n.differences, nextval('table_ids')
from (
    select i.index_id, coalesce(s.passes, 0) as passes, coalesce(s.differences, 0) as differences
    from indexes i
    left join index_scrubs s on s.index_id = i.index_id
    where i.state = 3
      and (s.begun is null or s.begun <= now() - $2::int8 * interval '1 second' or s.begun > now())
      and not exists (
          select from operations o
          where o.state in (1, 2) and o.kind = 'scrub_index' and o.index_id = i.index_id)
      and (select count(*) from operations o where o.state in (1, 2) and o.kind = 'scrub_index') < $1::int8
    order by s.begun nulls first, i.index_id
    limit 1
) n
