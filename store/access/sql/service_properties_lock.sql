-- SPDX-License-Identifier: Apache-2.0
-- The same, with the row made if it is missing and locked until the end of the transaction, so that two changes follow one
-- another. $1 the account. By the primary key.
insert into service_properties (account, properties) values ($1::text, '')
on conflict (account) do update set properties = service_properties.properties
returning properties
