-- Reads the number of slots of a semaphore, or changes it: also on a server that may not vote.
-- KEYS  1 the number of slots  2 a key that nobody writes
--       3 marker of the server
-- ARGV  1 the number to replace  2 the new one, or '0' to change nothing  3 how long to keep it, ms
--       4 fingerprint of the caller's configuration
--       5 the marker that lets the server vote: see marker.lua
-- reply the number known before, 0 if there was none
--       {5, marker} the server votes for another configuration

local seen = redis.call('MGET', KEYS[1], KEYS[3])
if seen[2] and refuses(seen[2], ARGV[5]) then
  local fingerprint = string.match(seen[2], '^%a+|([^|]*)|')
  if fingerprint and fingerprint ~= ARGV[4] then
    return {5, seen[2]}
  end
end
-- A write without effect, so that a replica says READONLY instead of what may be stale.
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('DEL', KEYS[2])
end
local known = tonumber(seen[1] or '0') or 0
if ARGV[2] ~= '0' and (known == 0 or known == tonumber(ARGV[1]) or known == tonumber(ARGV[2])) then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return known
