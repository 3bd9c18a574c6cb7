-- SPDX-License-Identifier: Apache-2.0
-- Large entities: properties of tables with blob_properties may hold contents of blobs (docs/large-entities.md). A
-- content belongs to a name, or to the entities that blob_references lists. Contents without a name have their own
-- description, and a new state, 4: complete, and no entity has it yet.
-- programs: 36
-- locks: tables moment
-- locks: blob_contents moment
alter table tables add column blob_properties boolean not null default false;

alter table blob_contents
    add column sha256       bytea,  -- these three: of contents without a name, once they are complete; otherwise null
    add column content_type text,
    add column created      bigint; -- ticks

-- Which entities hold which contents. A row commits with the write that gives the content to the entity or takes it
-- away (guard G60).
create table blob_references (
    account       text   collate "C" not null,
    content_id    uuid   not null,
    table_id      bigint not null,
    partition_key text   collate "C" not null,
    row_key       text   collate "C" not null,
    primary key (content_id, table_id, partition_key, row_key)
);
create index blob_references_table on blob_references (table_id, content_id); -- for the purge of a dropped table
