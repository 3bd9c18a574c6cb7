-- SPDX-License-Identifier: Apache-2.0
-- Raise the count of passes over index $1, which was $2. No row: another worker has begun the pass.
insert into index_scrubs as s (index_id, begun, passes)
select $1::int8, now(), 1
where $2::int8 = 0 or exists (select from index_scrubs x where x.index_id = $1::int8)
on conflict (index_id) do update set begun = excluded.begun, passes = s.passes + 1 where s.passes = $2::int8
returning s.passes
