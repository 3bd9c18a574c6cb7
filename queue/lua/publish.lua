-- SPDX-License-Identifier: Apache-2.0
-- Append messages to a stream while it is shorter than its cap.
-- A stream that nobody publishes to any more - there are fewer shards now - is gone after a day, with what is in it.
-- KEYS[1] stream; ARGV[1] cap; then one value per message (message.h). Returns how many were appended.
local room = tonumber(ARGV[1]) - redis.call('XLEN', KEYS[1])
local added = 0
for at = 2, #ARGV do
  if added >= room then
    break
  end
  redis.call('XADD', KEYS[1], '*', 'v2', ARGV[at])
  added = added + 1
end
if added > 0 then
  redis.call('EXPIRE', KEYS[1], 86400)
end
return added
