-- SPDX-License-Identifier: Apache-2.0
-- Lock stray $1, whose bytes a later statement of the transaction makes those of a chunk. No row: the collector has begun
-- to remove them (guard G68).
select store from blob_strays where object_id = $1::uuid and not removing for update
