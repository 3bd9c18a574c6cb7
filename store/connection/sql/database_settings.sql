-- SPDX-License-Identifier: Apache-2.0
-- The settings on which the service's promises depend, as they hold for this session, read in a
-- transaction after the one that made the session's settings. Columns: fsync, full_page_writes,
-- synchronous_commit, isolation, encoding, whether all columns of keys and names have the collation
-- "C", the process id of the backend.
-- The statement sets synchronous_commit for the session to its present value, so that it stays the
-- same when the server reads its settings again.
select current_setting('fsync'), current_setting('full_page_writes'),
    set_config('synchronous_commit', current_setting('synchronous_commit'), false),
    current_setting('transaction_isolation'), current_setting('server_encoding'),
    not exists (
        select from pg_attribute a
        where a.attrelid in ('entities'::regclass, 'intents'::regclass, 'index_state'::regclass, 'tables'::regclass)
            and a.attname in ('partition_key', 'row_key', 'account', 'folded')
            and a.attcollation <> 'pg_catalog."C"'::regcollation
    ),
    pg_backend_pid()
