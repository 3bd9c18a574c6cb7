-- SPDX-License-Identifier: Apache-2.0
-- The next $3 tables with a rule of periods behind the account $1 and the folded name $2, with the
-- rule and the clock of the database in microseconds since 1970. Relies on tables_with_periods.
select account, folded, name, period, periods_ahead, periods_kept,
    (extract(epoch from clock_timestamp()) * 1000000)::int8
from tables
where live and period <> 0 and index_id is null and (account, folded) > ($1::text, $2::text)
order by account, folded
limit $3::int8
