-- SPDX-License-Identifier: Apache-2.0
-- The trace to which the write of an intent belongs (W3C Trace Context): 16 bytes of its id, 8 of
-- the span that wrote; null: the write is not traced. 24 bytes by the programs that write it, not
-- by a constraint, which would read the whole table.
-- programs: 34
-- locks: intents moment
alter table intents add column trace bytea;
