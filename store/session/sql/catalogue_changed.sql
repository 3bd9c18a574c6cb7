-- SPDX-License-Identifier: Apache-2.0
-- What has changed since version $1, a row for each version.
select family_id from catalogue_changes where version > $1::int8
