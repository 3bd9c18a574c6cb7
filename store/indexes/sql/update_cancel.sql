-- SPDX-License-Identifier: Apache-2.0
-- End the operations that are making index $1 a strong one, since their work does not count any
-- more (guard G41). $2 now.
update operations set state = 5, ended = $2::int8
where kind = 'update_index' and index_id = $1::int8 and state in (1, 2)
