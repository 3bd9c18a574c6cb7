-- A new epoch: the floor above every version an earlier one can have given out. Inside a catalogue change.
update catalogue
set epoch = epoch + 1, floor = greatest(floor, (epoch + 1) << 40),
    system_id = (select system_identifier from pg_control_system()),
    timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8
