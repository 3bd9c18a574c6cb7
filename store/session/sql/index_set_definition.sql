-- SPDX-License-Identifier: Apache-2.0
-- Set the declaration of index $1 to $2, which asks for the same entries.
update indexes set definition = $2::bytea where index_id = $1::int8
