-- SPDX-License-Identifier: Apache-2.0
-- How far the indexes of these names are behind by the open intents of their source tables alone. $1 accounts,
-- $2 folded names, $3 the largest number of intents to look at; n: the position in the arrays, from 1. open:
-- how many there are, up to that number; oldest, newest: when these were made, and the database's clock, in
-- microseconds since 1970. An index that is not READY, or does not exist, has no row.
select u.n, o.open, o.oldest, o.newest, (extract(epoch from now()) * 1000000)::int8
from unnest($1::text[], $2::text[]) with ordinality u(a, f, n)
join indexes x on x.account = u.a and x.folded = u.f and x.state = 3
cross join lateral (
    select count(*) as open, min(intent_created_us(s.id)) as oldest, max(intent_created_us(s.id)) as newest
    from (select i.id from intents i where i.table_id = x.source_table_id limit $3::int8) s) o
