-- SPDX-License-Identifier: Apache-2.0
-- Up to $1 strays in the stores $2 whose time has come: from now on no chunk can name their bytes (guard G68). A
-- transaction by itself that waits for the disk: the bytes are removed when it is certain. Those whose removal an
-- earlier round has begun are marked again. Materialized: in a plan with a nested loop the selection would be made once
-- for each row, each time behind the rows that are locked already, and mark more than $1. Uses blob_strays_due.
with chosen as materialized (
    select object_id from blob_strays
    where due <= now() and store = any ($2::int2[])
    order by due
    limit $1::int8
    for update skip locked)
update blob_strays s set removing = true
from chosen
where s.object_id = chosen.object_id
returning s.account, s.digest, s.object_id, s.store
