-- SPDX-License-Identifier: Apache-2.0
-- A secret that all servers of this database share, by its name.
select value from secrets where name = $1::text
