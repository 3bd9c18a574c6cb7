-- SPDX-License-Identifier: Apache-2.0
-- Indexes on tables with wide entities: how much of an entity they need is known before it is read.
-- programs: 36
-- locks: none

-- The bytes of the parts to which these names of properties belong, which spread_properties returns
-- (0042). The properties themselves are not read.
create function spread_bytes(of_table bigint, of_partition text, of_row text, of_bucket smallint, names text[])
    returns bigint language sql stable parallel safe as $$
    select coalesce(sum(octet_length(s.properties)), 0)::bigint
    from (
        select distinct on (f.first_name) f.*
        from unnest(names) w(name)
        cross join lateral (
            select x.first_name, x.properties from entity_parts x
            where x.table_id = of_table and x.partition_key = of_partition and x.row_key = of_row
                and x.bucket = of_bucket and x.first_name <= w.name collate "C"
            order by x.first_name desc
            limit 1) f
        order by f.first_name) s
$$;
