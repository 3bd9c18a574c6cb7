-- SPDX-License-Identifier: Apache-2.0
-- Hold the fence exclusively: wait for open writers, and make later ones wait (guard G1).
lock table write_fence in exclusive mode
