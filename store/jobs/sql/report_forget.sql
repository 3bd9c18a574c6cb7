-- SPDX-License-Identifier: Apache-2.0
-- Delete the old reports of index $1, which has a new one: all those that have ended except the
-- newest $2.
with old as (
    delete from index_reports r
    using (
        select x.operation_id
        from index_reports x join operations o on o.operation_id = x.operation_id
        where x.index_id = $1::int8 and o.state not in (1, 2)
        order by o.started desc, o.operation_id desc
        offset $2::int8
    ) o
    where r.operation_id = o.operation_id
    returning r.operation_id
)
delete from index_differences d using old where d.operation_id = old.operation_id
