-- SPDX-License-Identifier: Apache-2.0
-- As usage_chunk.sql, of the pages of `blob_chunks` from $1 to before $2: for each account 0 instead of a table's id, its
-- chunks, and their bytes.
select 0::int8, count(*), sum(size)::int8, account
from blob_chunks
where ctid >= ('(' || $1::int8 || ',0)')::tid and ctid < ('(' || $2::int8 || ',0)')::tid
group by account
order by account
