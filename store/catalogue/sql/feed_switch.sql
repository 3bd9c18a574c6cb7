-- SPDX-License-Identifier: Apache-2.0
-- Give table $1 a new feed, or with $2 false end its feed. The statement runs inside a change of
-- the catalogue, while no writer uses the table's old settings.
with made as (
    insert into feeds (feed_id, table_id) select nextval('table_ids'), $1::int8 where $2::bool returning feed_id)
update tables set feed_id = (select feed_id from made) where table_id = $1::int8
