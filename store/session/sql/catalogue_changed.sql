-- SPDX-License-Identifier: Apache-2.0
-- What has changed since version $1 of the catalogue, one row for each version.
select family_id from catalogue_changes where version > $1::int8
