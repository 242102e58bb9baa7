-- Prolongs the lock where this token holds it. Where the key was lost it may be
-- put back, which is told apart in the reply: a refill is no vote.
-- KEYS  1 lock  2 fence counter  3 tombstone of this token
-- ARGV  1 token  2 ttl ms  3 '1' refill  4 fence  5 holder
--       6 '1' the holder is another than before
-- reply 1 extended | 2 refilled | 0 not there | -1 somebody else's

local token = ARGV[1]
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' then
  if string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
    return value
  end
  return -1
end
if value then
  if string.sub(value, 1, #token + 1) == token .. ':' then
    if ARGV[6] == '1' then
      redis.call('SET', KEYS[1], string.match(value, '^[^|]*') .. '|' .. ARGV[5], 'PX', ARGV[2])
      return 1
    end
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  -- A write, so that a replica says READONLY instead of a stale 'not yours'.
  if redis.call('EXISTS', KEYS[3]) == 0 then
    redis.call('DEL', KEYS[3])
  end
  return -1
end
if ARGV[3] ~= '1' or redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('DEL', KEYS[1])
  return 0
end
if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(ARGV[4]) then
  redis.call('SET', KEYS[2], ARGV[4])
end
redis.call('SET', KEYS[1], token .. ':' .. ARGV[4] .. '|' .. ARGV[5], 'PX', ARGV[2])
return 2
