-- SPDX-License-Identifier: Apache-2.0
-- Lock the contents $2 of accounts $1, in their order, and return which of them entities can hold: they are complete,
-- have no name, and were not discarded. The lock keeps the collector away, and whoever gives them up (guard G60).
select u.n, c.sha256 is not null and c.state in (2, 4)
from unnest($1::text[], $2::uuid[]) with ordinality u(account, id, n)
    join blob_contents c on (c.account, c.content_id) = (u.account, u.id)
order by c.account, c.content_id
for update of c
