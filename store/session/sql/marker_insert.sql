-- SPDX-License-Identifier: Apache-2.0
-- Insert the marker of one writing transaction (guard G6): connection $1, number $2. If $3, a
-- version of the catalogue, is given and the catalogue has another one, no marker is inserted: a
-- transaction that has written nothing must not count as committed (guard G33).
insert into commit_markers (bucket, connection_id, number)
select 0, $1::int8, $2::int8
where $3::int8 is null or $3::int8 = (select version from catalogue)
