-- SPDX-License-Identifier: Apache-2.0
-- Set the quotas of account $1: $2 entities and $3 bytes. -1: the quota of the servers' settings;
-- -2: unchanged. No row comes back if there is no such account.
update accounts
set max_entities = case $2::int8 when -2 then max_entities when -1 then null else $2::int8 end,
    max_bytes = case $3::int8 when -2 then max_bytes when -1 then null else $3::int8 end
where name = $1::text
returning name
