-- SPDX-License-Identifier: Apache-2.0
-- Whether tables may have wide entities: the database is not distributed over nodes, and accepts no
-- program that does not know parts. Programs of schema version 42 and later do.
select not exists (select from pg_extension where extname = 'citus')
    and coalesce((select max(coalesce(m.oldest_program, m.version)) from schema_migrations m), 0) >= 42
