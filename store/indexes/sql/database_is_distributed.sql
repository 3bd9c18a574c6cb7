-- SPDX-License-Identifier: Apache-2.0
-- Whether the database is, or may be, distributed over nodes. In that case a write that changes
-- entries in other partitions is a transaction over several nodes.
select exists (select from pg_extension where extname = 'citus')
