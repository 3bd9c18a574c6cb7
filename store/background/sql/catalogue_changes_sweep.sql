-- SPDX-License-Identifier: Apache-2.0
-- What versions of the catalogue have changed that are 10,000 versions back; $1 at most. A program that knows none later reads
-- all of the catalogue.
delete from catalogue_changes
where version in (
    select c.version from catalogue_changes c
    where c.version < (select version - 10000 from catalogue) order by c.version limit $1::int8)
returning 1
