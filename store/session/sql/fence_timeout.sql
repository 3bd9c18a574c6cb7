-- SPDX-License-Identifier: Apache-2.0
-- Limit the wait of fence_close, since writers queue behind it.
set local lock_timeout = '200ms'
