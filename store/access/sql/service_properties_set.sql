-- SPDX-License-Identifier: Apache-2.0
-- Set the settings of the table service of account $1 to $2. service_properties_lock has created
-- and locked the row.
update service_properties set properties = $2::bytea where account = $1::text
