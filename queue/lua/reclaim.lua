-- SPDX-License-Identifier: Apache-2.0
-- Take over entries whose consumer has been silent. XAUTOCLAIM looks at a bounded number of entries
-- and returns a cursor for the next call; it drops entries that were deleted from the stream.
-- KEYS[1] stream; ARGV[1] group, ARGV[2] consumer, ARGV[3] minimum idle time (ms), ARGV[4] cursor,
-- ARGV[5] maximum number. Returns the next cursor and, for each entry, id, fields, deliveries.
local reply = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], 'COUNT', ARGV[5])
local entries = {}
for _, entry in ipairs(reply[2]) do
  local pending = redis.call('XPENDING', KEYS[1], ARGV[1], entry[1], entry[1], 1)
  local deliveries = pending[1] and pending[1][4] or 1
  entries[#entries + 1] = { entry[1], entry[2], deliveries }
end
return { reply[1], entries }
