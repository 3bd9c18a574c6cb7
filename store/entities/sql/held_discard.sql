-- SPDX-License-Identifier: Apache-2.0
-- Of the contents $2 of accounts $1, which are locked, discard those that no entity holds any more. The statement is
-- behind the locks, so it sees every reference (guard G61). A content that a name points to is none of theirs: a string from the
-- time before the table had blob_properties may name it. Readers have $3 seconds, as in content_discard.
update blob_contents c set state = 3, discarded = now(), kept_until = now() + make_interval(secs => $3::int8)
from (select distinct account, id from unnest($1::text[], $2::uuid[]) u(account, id)) u
where (c.account, c.content_id) = (u.account, u.id) and c.state = 2 and c.sha256 is not null
    and not exists (select from blob_references r where r.content_id = c.content_id)
