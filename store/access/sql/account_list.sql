-- SPDX-License-Identifier: Apache-2.0
-- All accounts in the order of their names.
select name, administrator, first_key, second_key,
       (extract(epoch from created) * 1000000)::int8, (extract(epoch from rotated) * 1000000)::int8, id
from accounts order by name
