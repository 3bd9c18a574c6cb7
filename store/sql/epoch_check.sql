-- Is the catalogue's system and timeline the one of this database? Fails on a standby (55000).
select c.system_id = s.system_identifier
    and c.timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8
from catalogue c, pg_control_system() s
