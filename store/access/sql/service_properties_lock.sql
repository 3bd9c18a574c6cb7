-- SPDX-License-Identifier: Apache-2.0
-- The settings of the table service of account $1. The row is created if it is missing, and locked
-- until the end of the transaction, so that concurrent changes run one after the other. By the
-- primary key.
insert into service_properties (account, properties) values ($1::text, '')
on conflict (account) do update set properties = service_properties.properties
returning properties
