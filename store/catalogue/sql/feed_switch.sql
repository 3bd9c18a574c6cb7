-- SPDX-License-Identifier: Apache-2.0
-- Table $1 keeps a new feed, or with $2 false none. Within a catalogue change: no writer knows the table otherwise.
with made as (
    insert into feeds (feed_id, table_id) select nextval('table_ids'), $1::int8 where $2::bool returning feed_id)
update tables set feed_id = (select feed_id from made) where table_id = $1::int8
