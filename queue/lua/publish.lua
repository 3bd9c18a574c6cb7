-- SPDX-License-Identifier: Apache-2.0
-- Add messages to a shard, which holds about ARGV[1] of them. KEYS[1] stream, KEYS[2] waiting messages
-- (sorted set), KEYS[3] the next turn of each account (hash); ARGV[2] group, ARGV[3] how much may be
-- unread in the stream; then five values of each message: its account, its cost, the account's debt, and
-- the two of message.h. Returns the number of messages that were taken.
--
-- Consumers read the stream in the order of arrival, so little is appended while other messages are
-- unread there. The others wait in the sorted set, by turn (start-time fair queueing). An account's turn
-- is as much later than that of its message before as that one costs; if none of its messages waits, it
-- is the lowest turn that waits. So accounts with waiting messages share the consumers' time equally,
-- whatever each of them has waiting. claim.lua moves messages to the stream, the lowest turn first; it
-- leaves some unread there while messages wait. If nothing is unread, consumers of a version without
-- turns read the stream, or consumers wait there: then a message is appended in any case.
--
-- The room is shared, too: an account may have messages waiting that cost four times as much as there is
-- room left for messages, except for a sixteenth of all, which accounts with little waiting share. A message
-- that is due next is taken even if there is no room, up to a sixteenth beyond. A shard without a publisher,
-- because there are fewer shards now, expires after a day.
--
-- Redis looks at its limit of memory before the first write of a script only, so that must be a command
-- which the limit refuses (XADD, ZADD).
local stream, waiting, turns = KEYS[1], KEYS[2], KEYS[3]
local ahead = tonumber(ARGV[3])
local count = redis.call('ZCARD', waiting)
local length = redis.call('XLEN', stream)
local unread = length - (redis.pcall('XPENDING', stream, ARGV[2])[1] or 0) -- no group: nothing is pending
local max = tonumber(ARGV[1])
local room = max - length - count
local next_of = {} -- the next turns of accounts, where they have changed
local next_turn = 0
local added = 0
local is_first = count == 0 -- what an account has had before is forgotten

if not is_first then
  next_turn = tonumber(redis.call('ZRANGE', waiting, 0, 0, 'WITHSCORES')[2])
end

-- Whether a message of that turn may wait: it is due next; or there is room, and the account has little
-- waiting, or not much more than the room that is left.
local function may_wait(turn, cost)
  local lead = turn + cost - next_turn
  return turn <= next_turn or room > 0 and (lead <= max / 64 or lead <= 4 * (room - max / 16))
end

-- false: the account has no room. A message that waits already costs nothing.
local function wait(account, cost, debt, message)
  local turn = next_of[account] or not is_first and tonumber(redis.call('HGET', turns, account) or 0) or 0
  turn = math.max(turn, next_turn)
  if not may_wait(turn, cost) then
    return false
  end
  if redis.call('ZADD', waiting, 'NX', turn, message) == 1 then
    next_of[account] = turn + cost + debt
    count = count + 1
    room = room - 1
  end
  return true
end

for at = 4, #ARGV, 5 do
  local account, work, ctids = ARGV[at], ARGV[at + 3], ARGV[at + 4]
  local cost, debt = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local taken = room > -math.floor(max / 16)
  if taken and (unread == 0 or room > 0 and count == 0 and unread * cost < ahead) then
    redis.call('XADD', stream, '*', 'v2', work, 'at', ctids)
    unread = unread + 1
    room = room - 1
  elseif taken then
    taken = wait(account, cost, debt, cost .. ' ' .. ctids .. work) -- claim.lua takes it apart
  end
  if taken then
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
  redis.call('EXPIRE', stream, 86400)
  if count > 0 then
    redis.call('EXPIRE', waiting, 86400)
    redis.call('EXPIRE', turns, 86400)
  end
end
return added
