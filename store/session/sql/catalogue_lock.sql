-- SPDX-License-Identifier: Apache-2.0
-- Lock the row of the catalogue until the end of the transaction, and read its version.
select version from catalogue for update
