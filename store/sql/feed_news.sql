-- Which of the feeds $1 have changes behind the numbers $2, or are no table's any more? n: the position in the arrays,
-- from 1.
select u.n
from unnest($1::int8[], $2::int8[]) with ordinality u(f, s, n)
where exists (select 1 from changes c where c.feed_id = u.f and c.number > u.s)
    or not exists (select 1 from tables t where t.live and t.feed_id = u.f)
