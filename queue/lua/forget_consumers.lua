-- SPDX-License-Identifier: Apache-2.0
-- Delete consumers that have no claimed entries and have been silent for ARGV[3] ms. KEYS[1]
-- stream; ARGV[1] group, ARGV[2] a consumer to keep, ARGV[3] ms. Returns the number of deleted
-- consumers.
local forgotten = 0
for _, row in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = {}
  for at = 1, #row, 2 do
    consumer[row[at]] = row[at + 1]
  end
  if consumer.name ~= ARGV[2] and consumer.pending == 0 and consumer.idle > tonumber(ARGV[3]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
    forgotten = forgotten + 1
  end
end
return forgotten
