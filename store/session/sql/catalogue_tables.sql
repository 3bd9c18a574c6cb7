-- SPDX-License-Identifier: Apache-2.0
-- Every live table, of all accounts.
select table_id, account, name, folded, created, coalesce(index_id, 0), default_max_plan, policies,
    coalesce(feed_id, 0), samples_queries, coalesce(signatures_from, created)
from tables where live
