-- SPDX-License-Identifier: Apache-2.0
-- The trace of the call that submitted a transaction, and the id of its intent, while it has not
-- ended; no row: the call was not traced. $1 account, $2 id, $3 bucket. By intents_key.
select id, trace
from intents
where table_id = 0 and partition_key = $1::text and row_key = $2::text and bucket = $3::int2 and kind = 2
    and trace is not null
limit 1
