-- SPDX-License-Identifier: Apache-2.0
-- Append messages to a stream until it has ARGV[1] entries. A stream without a publisher, because
-- there are fewer shards now, expires after a day with its entries. KEYS[1] stream; ARGV[1] maximum
-- length; then the two values of each message (message.h). Returns the number of appended messages.
local room = tonumber(ARGV[1]) - redis.call('XLEN', KEYS[1])
local added = 0
for at = 2, #ARGV, 2 do
  if added >= room then
    break
  end
  redis.call('XADD', KEYS[1], '*', 'v2', ARGV[at], 'at', ARGV[at + 1])
  added = added + 1
end
if added > 0 then
  redis.call('EXPIRE', KEYS[1], 86400)
end
return added
