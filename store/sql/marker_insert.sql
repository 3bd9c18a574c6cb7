-- The marker of one write transaction (guard G6).
insert into commits (bucket, lane, n) values (0, $1::int8, $2::int8)
