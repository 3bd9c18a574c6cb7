-- SPDX-License-Identifier: Apache-2.0
-- The number of callers' tables of account $1, counted up to $2. Runs after the catalogue's row was
-- locked, so no other transaction creates one meanwhile. By tables_name.
select count(*) from (
    select from tables t where t.live and t.account = $1::text and t.index_id is null limit $2::int8) x
