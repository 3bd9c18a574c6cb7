-- SPDX-License-Identifier: Apache-2.0
-- Let this transaction's commit not wait until its log is on disk: for what is done again when a crash takes it back.
set local synchronous_commit = off
