-- Transactions that ended more than $1 seconds ago, by this database's clock; $2 at most. By
-- transactions_finished.
with old as materialized (
    select t.account, t.txn_id, t.bucket from transactions t
    where t.finished > 0
        and t.finished < ((extract(epoch from now()) + 11644473600 - $1::int8) * 10000000)::int8
    limit $2::int8
    for update skip locked)
delete from transactions t
using old o
where t.account = o.account and t.txn_id = o.txn_id and t.bucket = o.bucket
returning 1
