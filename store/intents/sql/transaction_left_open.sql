-- SPDX-License-Identifier: Apache-2.0
-- The states of these transactions, and the intents that their steps have left open. n: the
-- position in the arrays, from 1. An unknown transaction has no row.
select u.n, t.state, t.timeline
from unnest($1::text[], $2::text[], $3::int2[]) with ordinality u(a, i, b, n)
join transactions t on t.account = u.a and t.txn_id = u.i and t.bucket = u.b
