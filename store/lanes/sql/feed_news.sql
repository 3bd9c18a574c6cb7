-- SPDX-License-Identifier: Apache-2.0
-- Which of the feeds $1 have changes behind the numbers $2, end before these numbers (the database
-- was restored), or belong to no table any more. n: the position in the arrays, from 1.
select u.n
from unnest($1::int8[], $2::int8[]) with ordinality u(f, s, n)
left join feeds f on f.feed_id = u.f
where greatest((select c.number from changes c where c.feed_id = u.f order by c.number desc limit 1), f.floor)
        is distinct from u.s
    or not exists (select 1 from tables t where t.live and t.feed_id = u.f)
