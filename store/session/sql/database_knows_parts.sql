-- SPDX-License-Identifier: Apache-2.0
-- Whether tables with wide entities may have indexes and change feeds: the database accepts no program that would make
-- entries or changes without regard to parts. Programs of schema version 45 and later know them.
select coalesce((select max(coalesce(m.oldest_program, m.version)) from schema_migrations m), 0) >= 45
