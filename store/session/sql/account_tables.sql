-- SPDX-License-Identifier: Apache-2.0
-- How many tables of callers the account $1 has, counted up to $2. After the catalogue's row was locked: nobody creates one
-- meanwhile. By tables_name.
select count(*) from (
    select from tables t where t.live and t.account = $1::text and t.index_id is null limit $2::int8) x
