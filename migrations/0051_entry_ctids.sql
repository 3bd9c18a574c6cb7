-- SPDX-License-Identifier: Apache-2.0
-- Where the entries of a source key lie, so that the next reconcile finds those that it removes (guard G76).
-- programs: 36
-- locks: index_state moment

-- The ctids of the manifest's entries in their order, 6 bytes each; null, or of another length: not known.
alter table index_state add column entry_ctids bytea;
