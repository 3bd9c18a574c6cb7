-- SPDX-License-Identifier: Apache-2.0
-- How far the indexes of these names are behind by the open intents of their source tables alone. $1 accounts,
-- $2 folded names, $3 the largest number of intents to look at; n: the position in the arrays, from 1. open:
-- how many there are, up to that number; oldest, newest: when these were made, and the database's clock, in
-- microseconds since 1970. What several ask for is counted once. An index that is not READY, or does not exist, has no row.
select p.n, o.open, o.oldest, o.newest, (extract(epoch from now()) * 1000000)::int8
from (
    select w.a, w.f, array_agg(w.n) as positions
    from unnest($1::text[], $2::text[]) with ordinality w(a, f, n)
    group by w.a, w.f) u
join indexes x on x.account = u.a and x.folded = u.f and x.state = 3
cross join lateral (
    select count(*) as open, min(intent_created_us(s.id)) as oldest, max(intent_created_us(s.id)) as newest
    from (select i.id from intents i where i.table_id = x.source_table_id limit $3::int8) s) o
cross join unnest(u.positions) p(n)
