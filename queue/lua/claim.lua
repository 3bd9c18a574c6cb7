-- SPDX-License-Identifier: Apache-2.0
-- Claim up to ARGV[3] messages: those that are unread in the stream, then waiting ones, the lowest turn
-- first (publish.lua), but no more of these than cost as much as so many messages of the least cost; one
-- in any case. KEYS as there; ARGV[1] group, ARGV[2] consumer, ARGV[4] the number of digits of the value
-- "at" (message.h). Returns what XREADGROUP returns for the stream; nil: nothing can be claimed.
--
-- Some waiting messages are left unread in the stream, so that consumers that wait there wake up. If
-- Redis takes no more, what is in the stream is claimed.
local stream, waiting = KEYS[1], KEYS[2]
local group, consumer, wanted, digits = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local MAX_LEFT = 16

-- Returns the message's cost; nil: Redis takes no more. What is no message of publish.lua is left out.
local function append(message)
  local space = string.find(message, ' ', 1, true)
  local cost = space and tonumber(string.sub(message, 1, space - 1))
  if not cost then
    return 0
  end
  local reply = redis.pcall('XADD', stream, '*', 'v2', string.sub(message, space + 1 + digits),
    'at', string.sub(message, space + 1, space + digits))
  return not (type(reply) == 'table' and reply.err) and cost or nil
end

local function move(most)
  local moved, spent = 0, 0
  for _, message in ipairs(most > 0 and redis.call('ZRANGE', waiting, 0, most - 1) or {}) do
    local cost = spent < most and append(message)
    if not cost then
      break
    end
    moved = moved + 1
    spent = spent + cost
  end
  if moved > 0 then
    redis.call('ZREMRANGEBYRANK', waiting, 0, moved - 1)
  end
end

local function read()
  return redis.pcall('XREADGROUP', 'GROUP', group, consumer, 'COUNT', wanted, 'STREAMS', stream, '>')
end

if redis.call('EXISTS', waiting) == 1 then
  move(wanted - redis.call('XLEN', stream) + (redis.pcall('XPENDING', stream, group)[1] or 0))
end
local claimed = read()
if claimed and claimed.err and string.find(claimed.err, '^NOGROUP') then
  redis.call('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM')
  claimed = read()
end
if claimed and claimed.err then
  return claimed
end
if claimed then
  move(math.min(wanted, MAX_LEFT))
end
return claimed
