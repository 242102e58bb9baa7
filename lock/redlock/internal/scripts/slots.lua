-- Goes before acquire.lua where the lock is a slot of a semaphore: a caller with another number of slots than the
-- server knows is refused, without any effect.
-- KEYS  first the number of slots; then those of acquire.lua
-- ARGV  first the caller's number, how long to keep it, ms, the key of the semaphore if the caller takes any slot, or '',
--       and the hand-off window ms; then those of acquire.lua
-- reply {6, number} the server knows this other number; or that of acquire.lua, with one more field if the caller takes
--       any slot: see offer.lua

local slots_key, slots, keep = table.remove(KEYS, 1), table.remove(ARGV, 1), tonumber(table.remove(ARGV, 1))
local semaphore, window = table.remove(ARGV, 1), table.remove(ARGV, 1)
local known = redis.call('MGET', slots_key, KEYS[#KEYS])
-- A server that may not vote takes no number, and acquire.lua says so.
if not refuses(known[2], ARGV[#ARGV]) then
  if known[1] and known[1] ~= slots then
    return {6, known[1]}
  end
  if not known[1] or redis.call('PTTL', slots_key) < keep / 2 then
    redis.call('SET', slots_key, slots, 'PX', keep)
  end
end
