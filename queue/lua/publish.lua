-- SPDX-License-Identifier: Apache-2.0
-- Add messages to a shard, which holds at most ARGV[1] of them. KEYS[1] stream, KEYS[2] waiting messages
-- (sorted set), KEYS[3] the next turn of each account (hash); ARGV[2] group, ARGV[3] how much may be
-- unread in the stream; then four values of each message: its account, its cost, and the two of
-- message.h. Returns the number of messages that were taken.
--
-- Consumers read the stream in the order of arrival, so little is appended while other messages are
-- unread there. The others wait in the sorted set, by turn (start-time fair queueing). An account's turn
-- is as much later than that of its message before as that one costs; if none of its messages waits, it
-- is the lowest turn that waits. So accounts with waiting messages share the consumers' time equally,
-- whatever each of them has waiting. claim.lua moves messages to the stream, the lowest turn first.
--
-- The room is shared, too: an account may have at most as much waiting as there is room left. A shard
-- without a publisher, because there are fewer shards now, expires after a day.
--
-- Redis looks at its limit of memory before the first write of a script only, so that must be a command
-- which the limit refuses (XADD, ZADD).
local stream, waiting, turns = KEYS[1], KEYS[2], KEYS[3]
local ahead = tonumber(ARGV[3])
local count = redis.call('ZCARD', waiting)
local length = redis.call('XLEN', stream)
local unread = length - (redis.pcall('XPENDING', stream, ARGV[2])[1] or 0) -- no group: nothing is pending
local room = tonumber(ARGV[1]) - length - count
local next_of = {} -- the next turns of accounts, where they have changed
local next_turn = 0
local added = 0
local is_first = count == 0 -- what an account has had before is forgotten

if not is_first then
  next_turn = tonumber(redis.call('ZRANGE', waiting, 0, 0, 'WITHSCORES')[2])
end

-- false: the account has no room
local function wait(account, cost, message)
  local turn = next_of[account] or not is_first and tonumber(redis.call('HGET', turns, account) or 0) or 0
  turn = math.max(turn, next_turn)
  if turn + cost - next_turn > room then
    return false
  end
  redis.call('ZADD', waiting, 'NX', turn, message)
  next_of[account] = turn + cost
  count = count + 1
  return true
end

for at = 4, #ARGV, 4 do
  local account, cost, work, ctids = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], ARGV[at + 3]
  local taken = room > 0
  if taken and count == 0 and unread * cost < ahead then
    redis.call('XADD', stream, '*', 'v2', work, 'at', ctids)
    unread = unread + 1
  elseif taken then
    taken = wait(account, cost, cost .. ' ' .. ctids .. work) -- claim.lua takes it apart
  end
  if taken then
    room = room - 1
    added = added + 1
  end
end

if is_first and count > 0 then
  redis.call('DEL', turns)
end
for account, turn in pairs(next_of) do
  redis.call('HSET', turns, account, turn)
end
if added > 0 then
  for _, key in ipairs(KEYS) do
    redis.call('EXPIRE', key, 86400)
  end
end
return added
