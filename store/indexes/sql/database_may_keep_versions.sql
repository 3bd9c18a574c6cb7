-- SPDX-License-Identifier: Apache-2.0
-- Whether declarations of indexes may say that entries keep versions: the database is not distributed over nodes, and
-- accepts no program that cannot read such a declaration. Programs of schema version 39 and later can.
select not exists (select from pg_extension where extname = 'citus')
    and coalesce((select max(coalesce(m.oldest_program, m.version)) from schema_migrations m), 0) >= 39
