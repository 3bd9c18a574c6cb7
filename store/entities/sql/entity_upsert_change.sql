-- SPDX-License-Identifier: Apache-2.0
-- As entity_upsert_blind, for batches with tables that have a change feed: the same statement
-- inserts the changes. $9: the tables that have a feed, $10: their feeds.
-- A row that was updated has the xmax of this transaction, which has locked it before; a new row has
-- none. A row that is dead is not updated, because the change would tell of an update where there
-- was no entity (guard G45): then the statement fails (22012), and nothing is written.
-- The numbers are drawn after the rows are locked and the feeds are announced, as feed_lock does
-- (guard G47); in the changes 1 is an insert and 2 an update.
with written as (
    insert into entities as e (table_id, partition_key, row_key, bucket, version, ts, properties)
    select u.t, u.p, u.r, u.b, $7::int8 + 1, u.ts, u.x
    from (
        select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
            unnest($5::int8[]) as ts, unnest($6::bytea[]) as x
    ) u
    where $8::int8 = (select version from catalogue)
    on conflict (table_id, partition_key, row_key, bucket) do update
    set version = greatest(e.version, $7::int8) + 1, ts = greatest(e.ts + 1, excluded.ts), expires = null,
        properties = excluded.properties
    where not e.dead
    returning table_id, partition_key, row_key, version, ts, properties, xmax = 0 as is_new),
announced as materialized (
    select pg_advisory_xact_lock_shared(
            17765::int8 << 48 | case when s.is_called then s.last_value else 0 end),
        pg_advisory_xact_lock_shared(17766, (f.id & 2147483647)::int4)
    from (select count(*) from written) w(n), change_numbers s, unnest($10::int8[]) f(id)
    where case when w.n = 0 then false
        else 1 / (case when w.n = cardinality($2::text[]) then 1 else 0 end) = 1 end),
appended as (
    insert into changes (feed_id, number, kind, partition_key, row_key, version, ts, expires_at, properties)
    select f.id, nextval('change_numbers'), case when w.is_new then 1 else 2 end,
        w.partition_key, w.row_key, w.version, w.ts, 0, w.properties
    from written w
    join unnest($9::int8[], $10::int8[]) f(table_id, id) on f.table_id = w.table_id
    where (select count(*) from announced) > 0)
select version, ts from written
