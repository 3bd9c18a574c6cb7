-- SPDX-License-Identifier: Apache-2.0
-- The settings of the table service of account $1; no row if the account has none. By the primary
-- key.
select properties from service_properties where account = $1::text
