-- Takes a waiter that gave up, or that has the lock, out of the queue, with its bar. If it had just been named, or
-- barred readers, the next ones are named. After rwshared.lua.
-- KEYS  1 lock  2 next (reservation)  3 queue  4 bars  5 what the waiter says of itself
--       6 index of the readers
-- ARGV  1 waiter id  2 hand-off window ms  3 '1' PUBLISH counts every listener
-- reply 1 it was queued or named | 0 it was not

local waiter = ARGV[1]
local barred = bars_of(KEYS[4])[waiter]
if barred then
  redis.call('HDEL', KEYS[4], waiter)
end
local found = redis.call('ZREM', KEYS[3], waiter)
redis.call('DEL', KEYS[5])
local kept = redis.call('GET', KEYS[2])
if kept == waiter then
  redis.call('DEL', KEYS[2])
  found = 1
end
if kept == waiter or barred and not kept then
  local value, last = holders(KEYS[1], KEYS[6])
  if not value then
    name_group(KEYS[1], KEYS[2], KEYS[3], KEYS[4], last, ARGV[2], ARGV[3])
  end
end
return found
