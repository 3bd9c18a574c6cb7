-- SPDX-License-Identifier: Apache-2.0
-- Acknowledge and delete entries: both or neither, so that no entry is left without an owner.
-- KEYS[1] stream; ARGV[1] group; then entry ids, at most some hundreds. Returns the number of
-- acknowledged entries.
--
-- To delete an entry, Redis walks to it from the beginning of its node, so as many entries as
-- possible are deleted by trimming the stream: below the oldest pending entry or, if none is
-- pending, up to the last entry that was delivered. No entry there has work left: the group delivers
-- in the order of ids, and a delivered entry is pending, also when it is released or reclaimed, until
-- it is acknowledged. Both bounds are read from the group, not taken from the caller, whose ids may
-- be of a stream that was flushed since. A new group begins before the first entry, with nothing
-- pending.
local acknowledged = redis.call('XACK', KEYS[1], unpack(ARGV))
if acknowledged == 0 then
  return 0 -- another consumer has acknowledged them, or stream and group are new since the claim
end

local function last_delivered()
  for _, row in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
    local group = {}
    for at = 1, #row, 2 do
      group[row[at]] = row[at + 1]
    end
    if group.name == ARGV[1] then
      return group['last-delivered-id']
    end
  end
end

local deleted
local oldest = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1)[1]
if oldest then
  deleted = redis.call('XTRIM', KEYS[1], 'MINID', '=', oldest[1])
else
  local last = last_delivered()
  deleted = redis.call('XTRIM', KEYS[1], 'MINID', '=', last) + redis.call('XDEL', KEYS[1], last)
end
if deleted < acknowledged then -- some entries have larger ids than the trimmed ones
  redis.call('XDEL', KEYS[1], unpack(ARGV, 2))
end
return acknowledged
