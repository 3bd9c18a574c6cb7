-- SPDX-License-Identifier: Apache-2.0
-- Whether tables may have blob_properties: the database is not distributed over nodes, and accepts no program that
-- would write to such a table without regard to its blobs. Programs of schema version 44 and later know them.
select not exists (select from pg_extension where extname = 'citus')
    and coalesce((select max(coalesce(m.oldest_program, m.version)) from schema_migrations m), 0) >= 44
