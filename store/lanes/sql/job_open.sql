-- SPDX-License-Identifier: Apache-2.0
-- Which of these operations have not ended. n: the position in the arrays, from 1.
select u.n
from unnest($1::text[], $2::text[], $3::int2[]) with ordinality u(a, i, b, n)
join operations o on o.operation_id = any (array[u.i]) and o.account = u.a
where o.state in (1, 2)
