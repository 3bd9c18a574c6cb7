-- SPDX-License-Identifier: Apache-2.0
-- The contents $2 of accounts $1, which are locked and were complete, are current: an entity holds them.
update blob_contents c set state = 2
from (select distinct account, id from unnest($1::text[], $2::uuid[]) u(account, id)) u
where (c.account, c.content_id) = (u.account, u.id) and c.state = 4
