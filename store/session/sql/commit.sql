-- Commit; the tag says ROLLBACK when an earlier statement failed.
commit
