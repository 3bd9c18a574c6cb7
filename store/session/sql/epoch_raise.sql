-- SPDX-License-Identifier: Apache-2.0
-- Begin a new epoch inside a catalogue change: the floor rises above every version that an earlier
-- epoch may have given out. $1: the highest epoch that is known, in this database or from before a
-- restore. The new epoch is the number of the present ten minutes since 2025 or, if that is lower,
-- the number after the highest known epoch, so that two restores of one copy do not make the same
-- epoch.
update catalogue c
set epoch = n.epoch, floor = greatest(c.floor, n.epoch << 40),
    system_id = (select system_identifier from pg_control_system()),
    timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8
from (
    select greatest(x.epoch + 1, least($1::int8 + 1, 4194304), slot.number) as epoch
    from catalogue x
    cross join (select (extract(epoch from now())::int8 - 1735689600) / 600 as number) slot) n
