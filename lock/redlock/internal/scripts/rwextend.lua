-- Prolongs a reader's time, and nobody else's. After rwshared.lua. A writer's is prolonged by extend.lua.
-- A reader that was lost may be put back, which is no vote.
-- KEYS  1 lock  2 fence counter  3 tombstone of this token  4 next (reservation)  5 bars
--       6 index of the readers  7 marker of the server; not in a Redis Cluster, where it has another slot
-- ARGV  1 token  2 ttl ms  3 '1' refill  4 fence  5 last of its run, which the counter is raised to
--       6 holder
--       7 fingerprint of the caller's configuration
--       8 the marker that lets the server vote: see marker.lua
-- reply as extend.lua: 1 extended | 2 refilled | 0 not there | -1 somebody else's
--       {5, marker} the server votes for another configuration | {7, record} the lease is revoked

local votes, mark = ARGV[8] == ''
if votes then
  mark = redis.call('GET', KEYS[3])
else
  local seen = redis.call('MGET', KEYS[3], KEYS[7])
  mark = seen[1]
  votes = not refuses(seen[2], ARGV[8])
  local fingerprint = seen[2] and not votes and string.match(seen[2], '^%a+|([^|]*)|')
  if fingerprint and fingerprint ~= ARGV[7] then
    return {5, seen[2]}
  end
end
-- As in extend.lua.
if mark and mark ~= '' then
  return {7, mark}
end
local token = ARGV[1]
local value, last = holders(KEYS[1], KEYS[6])
local grant, result = not value and reader(KEYS[1], token), 1
if grant then
  -- It is prolonged as it is.
elseif value then
  result = -1
elseif ARGV[3] ~= '1' or not votes or redis.call('EXISTS', KEYS[3], KEYS[4]) > 0 or next(bars_of(KEYS[5])) then
  result = 0 -- also while a writer waits for the place that the reader would take
else
  result = 2
  if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(ARGV[5]) then
    redis.call('SET', KEYS[2], ARGV[5])
  end
  grant = ARGV[4] .. '|' .. ARGV[6]
end
if result > 0 then
  put_reader(KEYS[1], KEYS[6], token, grant, now + ARGV[2], last)
elseif redis.call('EXISTS', KEYS[3]) == 0 then
  -- A write, so that a replica says READONLY instead of a stale answer.
  redis.call('DEL', KEYS[3])
end
return result
