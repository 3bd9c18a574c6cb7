-- Append messages to a stream while it is shorter than its cap.
-- A stream that nobody publishes to any more - there are fewer shards now - is gone after a day, with what is in it.
-- KEYS[1] stream; ARGV[1] cap; then v, b, i, k, t, p, r of each message. Returns how many were appended.
local room = tonumber(ARGV[1]) - redis.call('XLEN', KEYS[1])
local added = 0
for at = 2, #ARGV, 7 do
  if added >= room then
    break
  end
  redis.call('XADD', KEYS[1], '*', 'v', ARGV[at], 'b', ARGV[at + 1], 'i', ARGV[at + 2], 'k', ARGV[at + 3],
    't', ARGV[at + 4], 'p', ARGV[at + 5], 'r', ARGV[at + 6])
  added = added + 1
end
if added > 0 then
  redis.call('EXPIRE', KEYS[1], 86400)
end
return added
