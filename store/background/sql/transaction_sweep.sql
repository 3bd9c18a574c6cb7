-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 transactions that ended more than $1 seconds ago by the database's clock, with
-- the rows of their keys and their dead letters. By transactions_finished.
with old as materialized (
    select t.account, t.txn_id, t.bucket, t.key_digests from transactions t
    where t.finished > 0
        and t.finished < ((extract(epoch from now()) + 11644473600 - $1::int8) * 10000000)::int8
    limit $2::int8
    for update skip locked),
keys as (
    delete from transaction_keys k
    using (select account, txn_id, bucket, unnest(key_digests) digest from old) o
    where k.account = any (array[o.account]) and k.digest = o.digest and k.txn_id = o.txn_id and k.bucket = o.bucket),
noted as (
    delete from dead_letters d
    using old o
    where d.kind = 2 and d.table_id = 0 and d.partition_key = o.account and d.row_key = o.txn_id and d.index_id = 0
        and d.bucket = o.bucket)
delete from transactions t
using old o
where t.account = any (array[o.account]) and t.txn_id = o.txn_id and t.bucket = o.bucket
returning 1
