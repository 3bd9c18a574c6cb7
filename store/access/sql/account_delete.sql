-- SPDX-License-Identifier: Apache-2.0
-- An account that has no table, with the settings of its table service; no row comes back when there is none such.
with gone as (
    delete from accounts a
    where name = $1::text and not exists (select from tables t where t.account = a.id and t.live)
    returning name, id
), settings as (
    delete from service_properties p using gone where p.account = gone.id
)
select name from gone
