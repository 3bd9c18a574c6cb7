-- SPDX-License-Identifier: Apache-2.0
-- Make claimed entries claimable at once, and undo the count of this delivery. KEYS[1] stream;
-- ARGV[1] group, ARGV[2] consumer, ARGV[3] idle time to pretend (ms); then pairs of entry id and
-- the count before the claim. Entries that are not claimed any more stay deleted.
for at = 4, #ARGV, 2 do
  redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[at], 'IDLE', ARGV[3], 'RETRYCOUNT', ARGV[at + 1],
    'JUSTID')
end
return redis.status_reply('OK')
