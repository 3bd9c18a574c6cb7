-- SPDX-License-Identifier: Apache-2.0
-- Changes the settings of live table $2/$1 (account, name in lower case): where $3, the default plan to $4; where $5,
-- the policies to $6; where $7, whether it samples queries to $8.
update tables
set default_max_plan = case when $3::bool then $4::int2 else default_max_plan end,
    policies = case when $5::bool then $6::bytea else policies end,
    samples_queries = case when $7::bool then $8::bool else samples_queries end
where live and account = $2::text and folded = $1::text
returning table_id
