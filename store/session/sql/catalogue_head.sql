-- SPDX-License-Identifier: Apache-2.0
-- The catalogue's version, floor and epoch, and its origin: the start time of the server, the
-- database, the relation.
select version, floor, epoch,
    concat_ws(' ', extract(epoch from pg_postmaster_start_time()),
        (select d.oid from pg_database d where d.datname = current_database()), 'catalogue'::regclass::oid)
from catalogue
