-- SPDX-License-Identifier: Apache-2.0
-- The usage of account $1: its tables and indexes now; its entities, entries and bytes as of the
-- last count; its own quotas (-1: the quota of the settings); and when the last count ended
-- (microseconds since 1970; 0: no count has ended).
select (select count(*) from tables t where t.live and t.account = $1::text and t.index_id is null),
    (select count(*) from indexes i where i.state <> 4 and i.account = $1::text),
    coalesce(u.entities, 0), coalesce(u.entries, 0), coalesce(u.bytes, 0),
    coalesce(a.max_entities, -1), coalesce(a.max_bytes, -1),
    coalesce((extract(epoch from c.ended) * 1000000)::int8, 0)
from usage_counts c
    left join account_usage u on u.account = $1::text
    left join accounts a on a.id = $1::text
