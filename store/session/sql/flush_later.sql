-- SPDX-License-Identifier: Apache-2.0
-- Do not let this transaction's commit wait until its log is on disk: the work is repeated if a
-- crash loses it.
set local synchronous_commit = off
