-- SPDX-License-Identifier: Apache-2.0
-- Raise the version of the catalogue, so that everything planned with the earlier version is
-- planned again (guard G1). $1: what has changed, see catalogue_changes.
with bumped as (update catalogue set version = version + 1 returning version)
insert into catalogue_changes (version, family_id) select b.version, $1::int8 from bumped b
