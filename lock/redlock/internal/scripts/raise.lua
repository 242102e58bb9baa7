-- Raises the fence counter to the token the quorum agreed on, bound to one exact
-- grant: a key that vanished and came back is another grant and must not count.
-- KEYS  1 lock  2 fence counter
-- ARGV  1 token:counter of the grant  2 fence
-- reply 1 raised | 0 the key is not that grant

local value = redis.call('MGET', KEYS[1])[1] -- false if readers are there
local grant = ARGV[1] .. '|'
if not value or string.sub(value, 1, #grant) ~= grant then
  return 0
end
if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[2], ARGV[2])
end
return 1
