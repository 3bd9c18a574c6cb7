-- SPDX-License-Identifier: Apache-2.0
-- Whether indexes may have copy rules: the database accepts no program that cannot read such a declaration. Programs of
-- schema version 47 and later can.
select coalesce((select max(coalesce(m.oldest_program, m.version)) from schema_migrations m), 0) >= 47
