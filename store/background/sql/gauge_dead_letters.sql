-- SPDX-License-Identifier: Apache-2.0
-- For metrics: the number of dead letters for each kind of work (1 keys, 2 transactions, 3 copies, 4 visits) and state
-- (1 dead, 2 retrying, 3 discarded) that has any; more than $1 count as $1, and of those that are retried at most $1 are
-- looked at. By dead_letters_counts and dead_letters_retries.
select k.kind, s.state, few.n
from (values (1::int2), (2::int2), (3::int2), (4::int2)) k(kind)
cross join (values (1::int2, false), (3::int2, true)) s(state, discarded)
cross join lateral (
    select count(*) as n
    from (select from dead_letters d where d.dead and d.kind = k.kind and d.discarded = s.discarded limit $1::int8) d) few
where few.n > 0
union all
select r.kind, 2::int2, count(*)
from (select d.kind from dead_letters d where not d.dead order by d.next_try limit $1::int8) r
group by 1
