-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $1 records of catalogue changes that are more than 10,000 versions old. A program
-- whose catalogue is older than the records that are left reads the whole catalogue.
delete from catalogue_changes
where version in (
    select c.version from catalogue_changes c
    where c.version < (select version - 10000 from catalogue) order by c.version limit $1::int8)
returning 1
