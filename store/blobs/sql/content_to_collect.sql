-- SPDX-License-Identifier: Apache-2.0
-- Lock a content that was discarded and is no longer kept for readers, or whose upload was abandoned.
-- A content that changes while this statement waits for its row is looked at again, so one that has
-- just become current is left alone. Uses blob_contents_collect.
select account, content_id from blob_contents
where state <> 2 and kept_until <= now()
order by kept_until
limit 1
for update skip locked
