-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 intents of the deleted table $1, or of the rule of the dropped index $1. Returns the number of deleted rows.
with gone as (
    delete from intents i
    where i.ctid = any (array(select x.ctid from intents x where x.table_id = $1::int8 limit $2::int8))
    returning 1
)
select count(*) from gone
