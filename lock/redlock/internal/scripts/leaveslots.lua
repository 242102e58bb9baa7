-- leave.lua for a waiter of a semaphore, which may have been named for several slots. After handoff.lua.
-- KEYS  1 queue of the semaphore  2 what the waiter says of itself
-- ARGV  1 waiter id  2 hand-off window ms  3 '1' PUBLISH counts every listener  4 key of the semaphore
--       5 number of slots
-- reply 1 it was queued or named | 0 it was not

local found = redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
local reservations = {}
for slot = 1, tonumber(ARGV[5]) do
  reservations[slot] = 'lockscope:next:{' .. ARGV[4] .. '#' .. slot - 1 .. '}'
end
for slot, kept in ipairs(redis.call('MGET', unpack(reservations))) do
  if kept == ARGV[1] then
    found = 1
    redis.call('DEL', reservations[slot])
    local lock = ARGV[4] .. '#' .. slot - 1
    if redis.call('EXISTS', lock) == 0 then
      name_next(lock, reservations[slot], KEYS[1], ARGV[2], ARGV[3])
    end
  end
end
return found
