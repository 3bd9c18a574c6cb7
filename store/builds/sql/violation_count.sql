-- SPDX-License-Identifier: Apache-2.0
-- The number of entities of table $1 that cannot have their entry in index $2, and up to three
-- causes out of 1000, one a line. Kind 1: reconciling.
select (select count(*) from dead_letters d where d.kind = 1 and d.table_id = $1::int8 and d.dead and d.index_id = $2::int8),
    (select coalesce(string_agg(c.cause, E'\n'), '') from (
        select distinct l.cause
        from (select d.cause from dead_letters d where d.kind = 1 and d.table_id = $1::int8 and d.dead
            and d.index_id = $2::int8 limit 1000) l
        order by 1 limit 3) c)
