-- SPDX-License-Identifier: Apache-2.0
-- How many indexes that are not being dropped the account $1 has, counted up to $2. As account_tables; by indexes_name.
select count(*) from (select from indexes i where i.state <> 4 and i.account = $1::text limit $2::int8) x
