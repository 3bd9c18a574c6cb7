-- SPDX-License-Identifier: Apache-2.0
-- Every live table of all accounts, ordered by family.
select coalesce(i.source_table_id, t.table_id), t.table_id, t.account, t.name, t.folded, t.created, coalesce(t.index_id, 0),
    t.default_max_plan, t.policies, coalesce(t.feed_id, 0), t.samples_queries, coalesce(t.signatures_from, t.created),
    t.period, t.periods_ahead, t.periods_kept, t.blob_properties, t.is_wide
from tables t
left join indexes i on i.index_id = t.index_id
where t.live
order by 1
