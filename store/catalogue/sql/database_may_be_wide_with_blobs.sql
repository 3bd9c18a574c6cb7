-- SPDX-License-Identifier: Apache-2.0
-- Whether tables with wide entities may have blob_properties: the database accepts no program that would write parts
-- without the contents that they hold. Programs of schema version 50 and later know them.
select coalesce((select max(coalesce(m.oldest_program, m.version)) from schema_migrations m), 0) >= 50
