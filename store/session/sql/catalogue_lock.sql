-- SPDX-License-Identifier: Apache-2.0
-- The catalogue's version, locked: no other transaction changes it before this one ends.
select version from catalogue for update
