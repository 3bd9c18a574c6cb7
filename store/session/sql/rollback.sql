-- SPDX-License-Identifier: Apache-2.0
-- Roll back the open transaction.
rollback
