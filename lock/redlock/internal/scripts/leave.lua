-- Takes a waiter that gave up out of the queue; if it had just been named, the
-- next one is named in its place.
-- KEYS  1 lock  2 next (reservation)  3 queue  4 what the waiter says of itself
-- ARGV  1 waiter id  2 hand-off window ms  3 '1' PUBLISH counts every listener
-- reply 1 it was queued or named | 0 it was not

local found = redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('DEL', KEYS[4])
if redis.call('GET', KEYS[2]) ~= ARGV[1] then
  return found
end
redis.call('DEL', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 0 then
  name_next(KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3])
end
return 1
