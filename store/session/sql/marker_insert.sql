-- SPDX-License-Identifier: Apache-2.0
-- The marker of one write transaction (guard G6): connection lane $1, number $2. With $3, a version of the catalogue, there is
-- no marker when the catalogue has another one: a transaction that wrote nothing must not count as committed (guard G33).
insert into commits (bucket, lane, n)
select 0, $1::int8, $2::int8
where $3::int8 is null or $3::int8 = (select version from catalogue)
