-- SPDX-License-Identifier: Apache-2.0
-- All accounts in the order of their names, with their usage as of the last count and their own
-- quotas (-1: the account has none of its own).
select a.name, a.administrator, a.first_key, a.second_key,
       (extract(epoch from a.created) * 1000000)::int8, (extract(epoch from a.rotated) * 1000000)::int8, a.id,
       coalesce(u.entities, 0), coalesce(u.bytes, 0), coalesce(a.max_entities, -1), coalesce(a.max_bytes, -1)
from accounts a left join account_usage u on u.account = a.id
order by a.name
