-- Says who holds the lock, and changes nothing.
-- KEYS  1 lock  2 a key that nobody writes
--       3 marker of the server; not in a Redis Cluster, where it has another slot
-- ARGV  1 the marker that lets the server vote, or '' if it votes anyway, or a fingerprint: see marker.lua. A caller of
--         one node of a larger set may read
-- reply {0} free | {1, pttl ms, counter, holder} held | {5, marker} may not vote

local value
if ARGV[1] == '' or string.find(ARGV[1], '^%d') then
  value = redis.call('MGET', KEYS[1])[1]
else
  local seen = redis.call('MGET', KEYS[1], KEYS[3])
  if seen[2] ~= ARGV[1] then
    return {5, seen[2] or ''}
  end
  value = seen[1]
end
-- A write without effect, so that a replica says READONLY instead of what may be stale.
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('DEL', KEYS[2])
end
local pttl = redis.call('PTTL', KEYS[1])
if pttl == -2 then
  return {0}
end
-- Another library's value stays here: it may be an owner token.
local counter, holder = string.match(value or '', '^%x+:(%d+)|(.*)$')
return {1, pttl, counter or '0', holder or ''}
