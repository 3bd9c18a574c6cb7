-- Did the transaction with this marker commit? It waits while that transaction is open. A row comes back:
-- no, and it never will, its own marker would collide. No row: yes (guard G6).
insert into commits (bucket, lane, n) values (0, $1::int8, $2::int8) on conflict do nothing returning n
