-- SPDX-License-Identifier: Apache-2.0
-- As transaction_list, for the transactions whose steps name the key with digest $5, in state $4
-- (0: any). By the primary key of transaction_keys.
select t.txn_id, t.state, t.steps_done, t.submitted, t.revision
from transaction_keys k
cross join lateral (
    select x.txn_id, x.state, x.steps_done, x.submitted, x.revision
    from transactions x
    where x.account = k.account and x.txn_id = k.txn_id and x.bucket = k.bucket
    offset 0
) t
where k.account = $1::text and k.digest = $5::int8 and k.txn_id > $2::text and ($4::int2 = 0 or t.state = $4::int2)
order by k.txn_id
limit $3::int8
