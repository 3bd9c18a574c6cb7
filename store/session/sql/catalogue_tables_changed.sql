-- SPDX-License-Identifier: Apache-2.0
-- As catalogue_tables, for the families that have changed since version $1.
with changed as materialized (
    select array_agg(distinct c.family_id) as ids from catalogue_changes c where c.version > $1::int8
)
select coalesce(i.source_table_id, t.table_id), t.table_id, t.account, t.name, t.folded, t.created, coalesce(t.index_id, 0),
    t.default_max_plan, t.policies, coalesce(t.feed_id, 0), t.samples_queries, coalesce(t.signatures_from, t.created),
    t.period, t.periods_ahead, t.periods_kept, t.blob_properties, t.is_wide
from tables t
left join indexes i on i.index_id = t.index_id
where t.live and t.table_id = any (array(
    select unnest(c.ids) from changed c
    union all
    select x.index_id from indexes x where x.source_table_id = any (array(select unnest(c.ids) from changed c))))
order by 1
