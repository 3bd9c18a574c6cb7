-- SPDX-License-Identifier: Apache-2.0
-- The number of indexes of account $1 that are not being dropped, counted up to $2. Runs at the
-- same time as account_tables; by indexes_name.
select count(*) from (select from indexes i where i.state <> 4 and i.account = $1::text limit $2::int8) x
