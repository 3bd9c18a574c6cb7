-- SPDX-License-Identifier: Apache-2.0
-- Each store of chunks of blobs that has any: its number, its chunks and their bytes, and its strays and theirs. Reads
-- both tables, but not the bytes.
select store, sum(chunks)::int8, sum(bytes)::int8, sum(strays)::int8, sum(stray_bytes)::int8
from (
    select store, count(*) as chunks, sum(size) as bytes, 0 as strays, 0 as stray_bytes from blob_chunks group by store
    union all
    select store, 0, 0, count(*), sum(size) from blob_strays group by store) counted
group by store
order by store
