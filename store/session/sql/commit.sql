-- SPDX-License-Identifier: Apache-2.0
-- Commit; the tag says ROLLBACK when an earlier statement failed.
commit
