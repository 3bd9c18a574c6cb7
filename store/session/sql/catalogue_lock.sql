-- SPDX-License-Identifier: Apache-2.0
-- The catalogue's version, and nobody changes it before this transaction ends.
select version from catalogue for update
