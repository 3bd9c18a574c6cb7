-- SPDX-License-Identifier: Apache-2.0
-- Settle whether the transaction with the marker ($1, $2) commits (guard G6): wait while the
-- transaction is open, then insert its marker. The insert does nothing if the transaction has
-- committed. If it is inserted, the transaction can never commit, because its own marker would be a
-- duplicate. A second row, whose connection id is negative and so belongs to no connection, tells
-- this resolver's marker from the transaction's.
with settled as (
    insert into commit_markers (bucket, connection_id, number) values (0, $1::int8, $2::int8) on conflict do nothing returning number)
insert into commit_markers (bucket, connection_id, number) select 0, -1 - $1::int8, s.number from settled s
