-- SPDX-License-Identifier: Apache-2.0
-- Enter the write fence: take ROW SHARE on an empty table, which conflicts with the EXCLUSIVE lock
-- of a catalogue change. So a catalogue change waits for this transaction, and later writers wait
-- for the change (guard G1).
select 1 from write_fence where bucket = 0 for key share
