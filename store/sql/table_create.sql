-- A new table under a new id; no row comes back when the name is taken.
insert into tables (table_id, account, name, folded, created, live)
values (nextval('table_ids'), $1::text, $2::text, $3::text, $4::int8, true)
on conflict (account, folded) where live do nothing
returning table_id
