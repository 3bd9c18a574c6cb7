-- SPDX-License-Identifier: Apache-2.0
-- Writers queue up behind a waiting fence_close: it must not wait long.
set local lock_timeout = '200ms'
