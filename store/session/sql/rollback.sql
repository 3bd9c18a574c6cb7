-- Give up an open transaction.
rollback
