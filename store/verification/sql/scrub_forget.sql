-- SPDX-License-Identifier: Apache-2.0
-- Delete the passes over index $1, with their reports, except the newest one that has ended and
-- those that are running.
with kept as (
    select o.operation_id from operations o
    where o.kind = 'scrub_index' and o.index_id = $1::int8 and o.state = 3
    order by o.ended desc, o.operation_id desc
    limit 1
), old as (
    delete from operations o
    where o.kind = 'scrub_index' and o.index_id = $1::int8 and o.state not in (1, 2)
      and o.operation_id not in (select k.operation_id from kept k)
    returning o.operation_id
), reports as (
    delete from index_reports r using old where r.operation_id = old.operation_id
)
delete from index_differences d using old where d.operation_id = old.operation_id
