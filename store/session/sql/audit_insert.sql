-- SPDX-License-Identifier: Apache-2.0
-- Insert the audit record of an administrative call: $1 the call, $2 the number of the record among
-- those of the call, $3 the account, $4 the kind of credential, $5 the key, $6 the method, $7 the
-- target, $8 the outcome, $9 how many calls were left out. If the record exists already, it stays,
-- since it was written with the change.
insert into audit_records (call_id, number, account, credential, key, method, target, outcome, left_out)
values ($1::int8, $2::int4, $3::text, $4::int2, $5::int2, $6::text, $7::text, $8::text, $9::int8)
on conflict (call_id, number) do nothing
