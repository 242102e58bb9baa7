-- Goes before extend.lua where the lock is a slot of a semaphore: a slot that is gone is not prolonged.
-- KEYS  first the number of slots; then those of extend.lua
-- ARGV  first the slot, the caller's number of slots, and how long to keep that, ms; then those of extend.lua
-- reply {6, number} the server knows of fewer slots; or that of extend.lua

local slots_key, slot, slots = table.remove(KEYS, 1), tonumber(table.remove(ARGV, 1)), table.remove(ARGV, 1)
local keep = tonumber(table.remove(ARGV, 1))
local known = redis.call('MGET', slots_key, KEYS[4])
if known[1] and slot >= (tonumber(known[1]) or 0) then
  -- A write, so that a replica says READONLY instead of what may be stale.
  if redis.call('EXISTS', KEYS[3]) == 0 then
    redis.call('DEL', KEYS[3])
  end
  return {6, known[1]}
end
local may_take = not refuses(known[2], ARGV[9])
if not known[1] and may_take or known[1] and redis.call('PTTL', slots_key) < keep / 2 then
  redis.call('SET', slots_key, known[1] or slots, 'PX', keep)
end
