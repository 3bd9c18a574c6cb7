-- SPDX-License-Identifier: Apache-2.0
-- A new epoch: the floor above every version an earlier one can have given out. Inside a catalogue change. $1: the highest
-- epoch that is known to have been, here or in what a restore has taken back. It is the number of the ten minutes since
-- 2025 in which it is made, or the next one: two restores of one copy do not make the same epoch twice.
update catalogue c
set epoch = n.epoch, floor = greatest(c.floor, n.epoch << 40),
    system_id = (select system_identifier from pg_control_system()),
    timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8
from (
    select greatest(x.epoch + 1, least($1::int8 + 1, 4194304), slot.number) as epoch
    from catalogue x
    cross join (select (extract(epoch from now())::int8 - 1735689600) / 600 as number) slot) n
