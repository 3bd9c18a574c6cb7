-- SPDX-License-Identifier: Apache-2.0
-- Whether the catalogue's system and timeline are those of this database (is_same), and the
-- database's progress: system, timeline, epoch, where in the log the next record goes, up to where
-- the log is flushed; and the key that signs the remembered state. Fails on a standby (55000).
select c.system_id = s.system_identifier and c.timeline = t.timeline as is_same, s.system_identifier, t.timeline, c.epoch,
    (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::int8, (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::int8, k.value
from catalogue c
cross join pg_control_system() s
cross join (select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8 as timeline) t
left join secrets k on k.name = 'token_key'
