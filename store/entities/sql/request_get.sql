-- SPDX-License-Identifier: Apache-2.0
-- The records of requests, read after the rows of the requests were locked (guard G5). $1 accounts,
-- $2 ids, $3 buckets: arrays of one length; n is the position in them, from 1.
select u.n, r.digest, r.response
from unnest($1::text[], $2::text[], $3::int2[]) with ordinality u(a, i, b, n)
join requests r on r.account = any (array[u.a]) and r.request_id = u.i and r.bucket = u.b
