-- SPDX-License-Identifier: Apache-2.0
-- As usage_blob_chunks.sql, of the pages of `blob_strays`: the strays that no move has left.
select 0::int8, count(*), sum(size)::int8, account
from blob_strays
where ctid >= ('(' || $1::int8 || ',0)')::tid and ctid < ('(' || $2::int8 || ',0)')::tid and not moved
group by account
order by account
