-- SPDX-License-Identifier: Apache-2.0
-- Give up an open transaction.
rollback
