-- SPDX-License-Identifier: Apache-2.0
-- The secret with name $1, which all servers of this database share.
select value from secrets where name = $1::text
