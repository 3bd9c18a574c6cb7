-- SPDX-License-Identifier: Apache-2.0
-- Wide entities that hold contents of blobs. A table has both only if the database accepts no program before this
-- version.
-- programs: 36
-- locks: entity_parts moment

-- The ids of the contents that the properties of the part hold, one behind the other; null: none. So a write that
-- leaves the part unread knows what it holds (guard G74).
alter table entity_parts add column contents bytea;
