-- SPDX-License-Identifier: Apache-2.0
-- Commit. If an earlier statement has failed, the command tag is ROLLBACK.
commit
