-- Which of these transactions are not finished? n: the position in the arrays, from 1.
select u.n
from unnest($1::text[], $2::text[], $3::int2[]) with ordinality u(a, i, b, n)
join transactions t on t.account = u.a and t.txn_id = u.i and t.bucket = u.b
where t.state in (1, 2)
