-- SPDX-License-Identifier: Apache-2.0
-- Begin the visibility timeout of claimed entries anew, if this consumer still has them and has not
-- handed them back. KEYS[1] stream; ARGV[1] group, ARGV[2] consumer, ARGV[3] the idle time of what
-- was handed back (ms); then entry ids. Returns the number of renewed entries; delivery counts do
-- not change.
local renewed = 0
for at = 4, #ARGV do
  local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[at], ARGV[at], 1)[1]
  if pending and pending[2] == ARGV[2] and pending[3] < tonumber(ARGV[3]) then
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[at], 'JUSTID')
    renewed = renewed + 1
  end
end
return renewed
