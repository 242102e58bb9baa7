-- The rest of release.lua, after handoff.lua.

if ARGV[5] then
  join(KEYS[4], ARGV[5], ARGV[6], KEYS[5], ARGV[7])
end
-- Where this token held the lock, a release that came twice named a waiter too early. It has been refused, and nobody
-- else would tell it: it is the first.
local early = result == 1 and ARGV[3] ~= '0' and redis.call('GET', KEYS[3])
if early then
  redis.call('DEL', KEYS[3])
  redis.call('ZADD', KEYS[4], 0, early)
end
-- Also where the key is somebody else's: it may be the one node that is wrong.
if ARGV[3] ~= '0' and redis.call('EXISTS', KEYS[3]) == 0 and name_next(KEYS[1], KEYS[3], KEYS[4], ARGV[3], ARGV[4]) then
  return result + 4
end
return result
