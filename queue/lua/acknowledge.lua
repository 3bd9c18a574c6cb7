-- SPDX-License-Identifier: Apache-2.0
-- Acknowledge and delete entries: both or neither, so that no entry is left without an owner.
-- KEYS[1] stream; ARGV[1] group; then entry ids, at most some hundreds. Returns the number of acknowledged entries.
--
-- To delete an entry Redis walks to it from the beginning of its node, so as many entries as possible are deleted by
-- trimming the stream: below the oldest pending entry or, if no entry is pending, up to the last that was delivered. No
-- entry there is still to be done. The group delivers in the order of ids, and new entries get larger ones: what
-- was not delivered is above all that was. A delivered entry is pending, also when it is handed back or taken over,
-- until it is acknowledged. Both ends are the group's own and not ids that the caller names, which may be of a stream
-- that was flushed since. A group that was made anew begins before the first entry, with nothing pending.
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
