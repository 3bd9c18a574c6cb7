-- SPDX-License-Identifier: Apache-2.0
-- ANALYZE reads 300 rows for each unit of the largest statistics target of a table's columns. By PostgreSQL's default
-- of 100 these are 30,000 rows, from as many pages, and they are sorted by each column: autovacuum takes a processor for
-- a quarter of a second, and writes beside it are late by a tenth of a second. The plans of all statements search by keys
-- and need no exact statistics, so a tenth of the rows is enough for tables that grow with their callers' data.
-- Citus does not take the statement for a distributed table, which keeps its default then.
-- programs: 36
-- locks: none
do $$
declare
    one record;
begin
    for one in
        select a.attrelid::regclass as relation, a.attname as column
        from unnest(array['appended_files', 'audit_records', 'blob_chunks', 'blob_contents', 'blob_parts', 'blob_references',
            'blob_strays', 'blobs', 'changes', 'claims', 'commit_markers', 'copy_visits', 'dead_letters', 'entities',
            'entity_parts', 'index_differences', 'index_state', 'intents', 'requests', 'samples', 'transaction_keys',
            'transactions', 'unique_owners']) t(name)
        join pg_attribute a on a.attrelid = t.name::regclass and a.attnum > 0 and not a.attisdropped
    loop
        begin
            execute format('alter table %s alter column %I set statistics 10', one.relation, one.column);
        exception when feature_not_supported then
            null;
        end;
    end loop;
end $$;
