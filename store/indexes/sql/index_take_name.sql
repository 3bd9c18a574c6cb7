-- SPDX-License-Identifier: Apache-2.0
-- Give index $1 the name of index $2, which this transaction has retired, and give its table the
-- settings of the other one's table.
with entries as (
    update tables n
    set folded = o.folded, created = o.created, signatures_from = o.signatures_from, default_max_plan = o.default_max_plan, policies = o.policies
    from tables o
    where n.table_id = $1::int8 and o.table_id = $2::int8
)
update indexes n set folded = o.folded, replaces = null
from indexes o
where n.index_id = $1::int8 and o.index_id = $2::int8
