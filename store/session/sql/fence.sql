-- SPDX-License-Identifier: Apache-2.0
-- Enter the write fence: takes ROW SHARE on an empty table, so that a catalogue change, which takes
-- EXCLUSIVE, waits for this transaction and holds later ones back (guard G1).
select 1 from write_fence where bucket = 0 for key share
