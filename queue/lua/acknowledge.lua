-- Acknowledge and delete entries: both or neither, so that nothing is left without an owner.
-- KEYS[1] stream; ARGV[1] group; then entry ids. Returns how many were deleted.
local deleted = 0
for at = 2, #ARGV do
  redis.call('XACK', KEYS[1], ARGV[1], ARGV[at])
  deleted = deleted + redis.call('XDEL', KEYS[1], ARGV[at])
end
return deleted
