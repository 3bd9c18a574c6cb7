-- SPDX-License-Identifier: Apache-2.0
-- Delete account $1, with the settings of its table service, if it has no table and no blob. No row
-- comes back if there is no such account or it has one of them.
with gone as (
    delete from accounts a
    where name = $1::text and not exists (select from tables t where t.account = a.id and t.live)
        and not exists (select from blobs b where b.account = a.id)
    returning name, id
), settings as (
    delete from service_properties p using gone where p.account = gone.id
)
select name from gone
