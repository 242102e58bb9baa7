-- Between handoff.lua and refuse.lua where the lock is a slot of a semaphore. Names waiters for the slots that are free
-- and kept for nobody. Returns 1 + a slot that is kept for the caller, or else one that nobody wants; 0 if there is none.

if semaphore ~= '' then
  offer = function()
    local keys = {}
    for slot = 0, slots - 1 do
      local lock = semaphore .. '#' .. slot
      keys[2 * slot + 1], keys[2 * slot + 2] = lock, 'lockscope:next:{' .. lock .. '}'
    end
    local found, own, free = redis.call('MGET', unpack(keys)), 0, 0
    for slot = 0, slots - 1 do
      local lock, kept = keys[2 * slot + 1], found[2 * slot + 2]
      -- MGET shows a key of another type as missing.
      if not found[2 * slot + 1] and (not kept or kept == waiter) and redis.call('EXISTS', lock) == 0 then
        local named = kept or name_next(lock, keys[2 * slot + 2], KEYS[5], window, '1', waiter)
        if not named and free == 0 then
          free = slot + 1
        elseif named and named == waiter and own == 0 then
          own = slot + 1
        end
      end
    end
    return own ~= 0 and own or free
  end
end
