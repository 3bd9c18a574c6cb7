-- SPDX-License-Identifier: Apache-2.0
-- The settings of the table service of account $1 become $2, in the row that service_properties_lock has locked.
update service_properties set properties = $2::bytea where account = $1::text
