-- SPDX-License-Identifier: Apache-2.0
-- Runs after table $1 was inserted, in the same transaction: if its name was freed less than $2
-- ticks before, only signatures that were issued after the insert give access to it. It is a
-- statement of its own, so that it sees a deletion for which the insert has waited. By
-- operations_deletions.
update tables t set signatures_from = null
where table_id = $1::int8
    and exists (
        select from operations o
        where o.account = t.account and o.kind in ('delete_table', 'drop_index') and o.started > t.created - $2::int8
            and lower(o.target collate "C") = t.folded)
