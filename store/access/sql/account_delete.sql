-- SPDX-License-Identifier: Apache-2.0
-- An account that has no table; no row comes back when there is none such.
delete from accounts a
where name = $1::text and not exists (select from tables t where t.account = a.id and t.live)
returning name
