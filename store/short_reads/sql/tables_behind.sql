-- SPDX-License-Identifier: Apache-2.0
-- Which of the tables $1 have indexes that may be behind: at least what open_sources would find, for one search of a
-- key for each table and kind of work.
select u.t
from unnest($1::int8[]) u(t)
where exists (select from intents i where i.table_id = u.t)
    or exists (select from dead_letters d where d.kind = 1 and d.table_id = u.t)
