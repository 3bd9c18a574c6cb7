-- SPDX-License-Identifier: Apache-2.0
-- What the account $1 holds: tables and indexes now, the rest and its own quotas (-1: those of the settings) as of the last count,
-- and when that ended (microseconds since 1970; 0: none has).
select (select count(*) from tables t where t.live and t.account = $1::text and t.index_id is null),
    (select count(*) from indexes i where i.state <> 4 and i.account = $1::text),
    coalesce(u.entities, 0), coalesce(u.entries, 0), coalesce(u.bytes, 0),
    coalesce(a.max_entities, -1), coalesce(a.max_bytes, -1),
    coalesce((extract(epoch from c.ended) * 1000000)::int8, 0)
from usage_counts c
    left join account_usage u on u.account = $1::text
    left join accounts a on a.id = $1::text
