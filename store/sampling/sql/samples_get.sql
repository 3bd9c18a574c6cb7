-- SPDX-License-Identifier: Apache-2.0
-- The newest samples of span $1 that were stored in the last $2 seconds, of table $3 (0: all
-- tables), at most $4: table, content, and how many microseconds ago the period began.
select table_id, content, (extract(epoch from now() - at) * 1000000)::int8 + seconds::int8 * 1000000
from samples
where span = $1::int2 and at > now() - make_interval(secs => $2::int8) and ($3::int8 = 0 or table_id = $3::int8)
order by at desc
limit $4::int8
