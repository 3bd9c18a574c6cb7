-- SPDX-License-Identifier: Apache-2.0
-- What has become of these transactions? n: the position in the arrays, from 1; state; revision. Unknown ones have
-- no row.
select u.n, t.state, t.revision
from unnest($1::text[], $2::text[], $3::int2[]) with ordinality u(a, i, b, n)
join transactions t on t.account = any (array[u.a]) and t.txn_id = u.i and t.bucket = u.b
