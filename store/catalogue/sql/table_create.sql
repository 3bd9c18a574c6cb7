-- SPDX-License-Identifier: Apache-2.0
-- Create a table under a new id, with a feed if $5, which accepts signatures made from time $6 on, with blob properties
-- if $7, and whose entities may be wide if $8.
-- No row comes back if the name is taken.
with made as (
    insert into tables (table_id, account, name, folded, created, live, feed_id, signatures_from, blob_properties, is_wide)
    values (nextval('table_ids'), $1::text, $2::text, $3::text, $4::int8, true,
        case when $5::bool then nextval('table_ids') end, $6::int8, $7::bool, $8::bool)
    on conflict (account, folded) where live do nothing
    returning table_id, feed_id),
feed as (
    insert into feeds (feed_id, table_id) select feed_id, table_id from made where feed_id is not null)
select table_id from made
