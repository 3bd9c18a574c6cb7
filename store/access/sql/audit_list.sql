-- SPDX-License-Identifier: Apache-2.0
-- Audit records with ids below $1, made by callers of account $2 (empty: all accounts), from time
-- $3 to before $4 (ticks: 100 nanoseconds since 1601); the newest $5. By the primary key, or by
-- audit_records_account.
select audit_id, (extract(epoch from recorded) * 1000000)::int8, account, credential, key, method, target, outcome, left_out
from audit_records
where audit_id < $1::int8 and ($2::text = '' or account = $2::text)
    and recorded >= to_timestamp($3::int8 / 10000000.0 - 11644473600)
    and recorded < to_timestamp($4::int8 / 10000000.0 - 11644473600)
order by audit_id desc
limit $5::int8
