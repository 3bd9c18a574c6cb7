-- SPDX-License-Identifier: Apache-2.0
-- Count entries that a consumer has handed back. KEYS[1] stream; ARGV[1] group, ARGV[2] the idle time
-- that only such entries have (ms), ARGV[3] the largest number that is of interest. Returns the number,
-- not more than that one.
return #redis.call('XPENDING', KEYS[1], ARGV[1], 'IDLE', ARGV[2], '-', '+', ARGV[3])
