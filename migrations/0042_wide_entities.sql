-- SPDX-License-Identifier: Apache-2.0
-- Tables with wide entities. The properties of a large entity are spread over the rows of
-- entity_parts; see domain/properties/property_parts.h. Such a table is made only if the database
-- accepts no program that does not know parts.
-- programs: 36
-- locks: tables moment
-- locks: entities moment
alter table tables add column is_wide boolean not null default false;

-- Bytes of the properties that are in entity_parts, and then `properties` of this row are empty; null:
-- all properties are in this row.
alter table entities add column spread bigint;

-- The parts of an entity are written while its row in entities is locked. first_name: the names of
-- a part are not below it, and below that of the next part; that of the first part is empty.
create table entity_parts (
    bucket         smallint not null,
    table_id       bigint   not null,
    partition_key  text     collate "C" not null,
    row_key        text     collate "C" not null,
    first_name     text     collate "C" not null,
    property_count integer  not null,
    properties     bytea    not null,
    primary key (table_id, partition_key, row_key, first_name, bucket)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
alter table entity_parts alter column properties set storage external;

-- The properties of an entity from its parts: all of them or, with names, those of the parts to which
-- the names belong. Null if they have more than max_bytes. The function is stable, so it reads in
-- the snapshot of the statement that calls it: the parts are those of the row in entities (guard G62).
create function spread_properties(of_table bigint, of_partition text, of_row text, of_bucket smallint,
    spread bigint, max_bytes integer, names text[]) returns bytea language plpgsql stable parallel safe as $$
declare
    joined bytea;
begin
    if names is null then
        if spread <= max_bytes then
            select string_agg(p.properties, ''::bytea order by p.first_name) into joined
            from entity_parts p
            where p.table_id = of_table and p.partition_key = of_partition and p.row_key = of_row and p.bucket = of_bucket;
        end if;
        return joined;
    end if;
    select string_agg(p.properties, ''::bytea order by p.first_name) into joined
    from (
        select s.*, sum(octet_length(s.properties)) over () as bytes
        from (
            select distinct on (f.first_name) f.*
            from unnest(names) w(name)
            cross join lateral (
                select x.first_name, x.properties from entity_parts x
                where x.table_id = of_table and x.partition_key = of_partition and x.row_key = of_row
                    and x.bucket = of_bucket and x.first_name <= w.name collate "C"
                order by x.first_name desc
                limit 1) f
            order by f.first_name) s) p
    where p.bytes <= max_bytes;
    if joined is null and cardinality(names) = 0 then
        joined := ''::bytea;
    end if;
    return joined;
end $$;
