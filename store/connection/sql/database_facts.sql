-- SPDX-License-Identifier: Apache-2.0
-- What an operator needs to know about the database, a row for each fact: name, value. Durations
-- are in seconds, sizes in bytes. PostgreSQL shows the transactions of other roles' sessions only
-- to members of pg_read_all_stats; for other roles they are not counted.
with sessions as (
    select * from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
),
facts (name, value) as (
    select name, setting from pg_settings where name in ('server_version', 'fsync', 'full_page_writes',
        'synchronous_commit', 'autovacuum', 'track_counts', 'data_checksums', 'huge_pages', 'max_connections',
        'data_directory')
    union all
    select 'over_unix_socket', (inet_server_addr() is null)::text
    union all
    select 'shared_buffers', pg_size_bytes(current_setting('shared_buffers'))::text
    union all
    select name, pg_size_bytes(current_setting(name))::text from (values ('max_wal_size'), ('min_wal_size')) sizes (name)
    union all
    select 'clock', extract(epoch from clock_timestamp())::text
    union all
    select 'free_connections', (current_setting('max_connections')::integer
        - current_setting('superuser_reserved_connections')::integer - count(*))::text from sessions
    union all
    -- what other sessions begin with: this one has set its own
    select name, reset_val from pg_settings where name = 'default_transaction_isolation'
    union all
    select 'usable_connections', (current_setting('max_connections')::integer
        - current_setting('superuser_reserved_connections')::integer)::text
    union all
    select 'collation_version', case when collversion is distinct from datcollversion then 'changed' else 'unchanged' end
        from (select datcollversion, pg_database_collation_actual_version(oid) as collversion
              from pg_database where datname = current_database()) d
    union all
    select 'oldest_transaction', max(extract(epoch from clock_timestamp() - xact_start))::integer::text from sessions
    union all
    select 'oldest_prepared_transaction', max(extract(epoch from clock_timestamp() - prepared))::integer::text
        from pg_prepared_xacts
    union all
    select 'slot_behind', max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn))::text from pg_replication_slots
        where not active
    union all
    select 'standby_behind', max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::text from pg_stat_replication
    union all
    select 'transaction_ids_used', age(datfrozenxid)::text from pg_database where datname = current_database()
    union all
    select 'dead_rows_percent', (100 * sum(n_dead_tup) / nullif(sum(n_live_tup + n_dead_tup), 0))::integer::text
        from pg_stat_user_tables where n_live_tup + n_dead_tup > 100000
    union all
    select 'intents_empty_bytes', greatest(0, pg_relation_size(relid) - 1024 * (n_live_tup + n_dead_tup))::text
        from pg_stat_user_tables where relname = 'intents'
)
select name, value from facts where value is not null
