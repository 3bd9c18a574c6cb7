-- SPDX-License-Identifier: Apache-2.0
-- Take the fence alone: waits for open writers, holds new ones back (guard G1).
lock table write_fence in exclusive mode
