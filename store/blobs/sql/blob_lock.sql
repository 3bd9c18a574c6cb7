-- SPDX-License-Identifier: Apache-2.0
-- Lock the name $2 of account $1, which is created if it is missing: two puts of a name run one
-- after the other. A following statement reads the row.
insert into blobs (account, name) values ($1::text, $2::text)
on conflict (account, name) do update set name = blobs.name where false
