-- How far an operation has come, and let go of it. No row comes back when it has ended, or when another
-- worker has taken it over: what it has done counts then. $1 id, $2 owner, $3 state, $4 phase, $5 to $7 cursor,
-- $8 done, $9 total, $10 faults, $11 when it ended, $12 error.
update operations
set state = $3::int2, phase = $4::int2, has_cursor = $5::bool, cursor_partition = $6::text, cursor_row = $7::text,
    done = $8::int8, total = $9::int8, faults = $10::int8, ended = $11::int8, error = $12::text,
    owner = '', until = now()
where operation_id = $1::text and owner = $2::text and state = 1
returning 1
