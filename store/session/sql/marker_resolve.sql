-- SPDX-License-Identifier: Apache-2.0
-- Settle whether the transaction with this marker commits (guard G6): waits while it is open, then inserts its
-- marker, which is not possible if it has committed. If it was, it never will: its own marker would collide.
-- A note (a lane below zero is nobody's) tells this resolver's marker from the transaction's.
with settled as (
    insert into commits (bucket, lane, n) values (0, $1::int8, $2::int8) on conflict do nothing returning n)
insert into commits (bucket, lane, n) select 0, -1 - $1::int8, s.n from settled s
