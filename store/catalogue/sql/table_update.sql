-- SPDX-License-Identifier: Apache-2.0
-- Change the settings of the live table $2/$1 (account, name in lower case): if $3, its default
-- plan becomes $4; if $5, its policies become $6; if $7, $8 says whether it samples queries; if $9,
-- its tables of periods have the unit $10, with $11 ahead and $12 kept.
update tables
set default_max_plan = case when $3::bool then $4::int2 else default_max_plan end,
    policies = case when $5::bool then $6::bytea else policies end,
    samples_queries = case when $7::bool then $8::bool else samples_queries end,
    period = case when $9::bool then $10::int2 else period end,
    periods_ahead = case when $9::bool then $11::int2 else periods_ahead end,
    periods_kept = case when $9::bool then $12::int2 else periods_kept end
where live and account = $2::text and folded = $1::text
returning table_id
