-- SPDX-License-Identifier: Apache-2.0
-- The number of other sessions of this database that are running a statement or a transaction. A
-- session whose state this role may not see counts.
select count(*)
from pg_stat_activity
where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
  and state is distinct from 'idle'
