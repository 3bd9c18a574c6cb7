-- SPDX-License-Identifier: Apache-2.0
-- Another declaration of the same entries. $1 index id, $2 declaration.
update indexes set definition = $2::bytea where index_id = $1::int8
