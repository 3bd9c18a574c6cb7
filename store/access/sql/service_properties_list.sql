-- SPDX-License-Identifier: Apache-2.0
-- The settings of all table services, in the order of their accounts, byte by byte.
select account, properties from service_properties order by account
