-- Prolongs the lock where this token holds it. Where the key was lost it may be
-- put back, which the reply distinguishes: a refill is no vote.
-- KEYS  1 lock  2 fence counter  3 tombstone of this token
--       4 marker of the server; not in a Redis Cluster, where it has another slot
-- ARGV  1 token  2 ttl ms  3 '1' refill  4 fence  5 last of its run, which the counter is raised to
--       6 holder  7 '1' write the holder anew
--       8 fingerprint of the caller's configuration
--       9 the marker that lets the server vote: see marker.lua
-- reply 1 extended | 2 refilled | 0 not there | -1 somebody else's
--       {5, marker} the server votes for another configuration | {7, record} the lease is revoked

local token, value, mark = ARGV[1]
local votes = ARGV[9] == ''
if votes then
  local seen = redis.call('MGET', KEYS[1], KEYS[3])
  value, mark = seen[1], seen[2]
else
  local seen = redis.call('MGET', KEYS[1], KEYS[3], KEYS[4])
  value, mark = seen[1], seen[2]
  votes = not refuses(seen[3], ARGV[9])
  if seen[3] and not votes then
    local fingerprint = string.match(seen[3], '^%a+|([^|]*)|')
    if fingerprint and fingerprint ~= ARGV[8] then
      return {5, seen[3]}
    end
  end
end
-- A tombstone with a record, from revoke.lua. A replica may say so, too: a mark is never taken back.
if mark and mark ~= '' then
  return {7, mark}
end
if value then
  -- What is kept for the rest of a minimum hold is prolonged by nobody: a renewal that comes late would shorten it.
  if string.sub(value, 1, #token + 1) == token .. ':' and
    (string.sub(value, -6) ~= '|done|' or string.sub(ARGV[6], -6) == '|done|') then
    if ARGV[7] ~= '1' then
      return redis.call('PEXPIRE', KEYS[1], ARGV[2])
    end
    redis.call('SET', KEYS[1], string.match(value, '^%x+:%d+|') .. ARGV[6], 'PX', ARGV[2])
    return 1
  end
elseif redis.call('EXISTS', KEYS[1]) == 0 then
  -- A key that is put back is a vote from the next round on: a server that may not vote,
  -- for it may have forgotten another's lock, does not take it.
  if ARGV[3] ~= '1' or not votes or redis.call('EXISTS', KEYS[3]) == 1 then
    redis.call('DEL', KEYS[1])
    return 0
  end
  if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(ARGV[5]) then
    redis.call('SET', KEYS[2], ARGV[5])
  end
  redis.call('SET', KEYS[1], token .. ':' .. ARGV[4] .. '|' .. ARGV[6], 'PX', ARGV[2])
  return 2
end
-- A write, so that a replica says READONLY instead of a stale 'not yours'.
if redis.call('EXISTS', KEYS[3]) == 0 then
  redis.call('DEL', KEYS[3])
end
return -1
