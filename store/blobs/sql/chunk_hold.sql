-- SPDX-License-Identifier: Apache-2.0
-- Lock chunk $2 of account $1, which a later statement of the transaction names: until then the collector leaves it
-- (guard G68). No row: there is no such chunk any more.
select store from blob_chunks where account = $1::text and digest = $2::bytea for update
