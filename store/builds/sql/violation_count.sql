-- SPDX-License-Identifier: Apache-2.0
-- How many entities of a table cannot have their entry in an index, and why: up to three causes out of 1000, one a line.
-- $1 table id, $2 index id. Kind 1: reconciling.
select (select count(*) from dead_letters d where d.kind = 1 and d.table_id = $1::int8 and d.dead and d.index_id = $2::int8),
    (select coalesce(string_agg(c.cause, E'\n'), '') from (
        select distinct l.cause
        from (select d.cause from dead_letters d where d.kind = 1 and d.table_id = $1::int8 and d.dead
            and d.index_id = $2::int8 limit 1000) l
        order by 1 limit 3) c)
