-- Deletes the lock where this token holds it: the part that every call runs. Where
-- somebody waits it goes on in handoff.lua and namenext.lua.
-- KEYS  1 lock  2 tombstone of this token, or where it leaves none a key that is never there  3 next (reservation)  4 queue
--       5 where to what that waiter says of itself, if it does
-- ARGV  1 token  2 tombstone ms or '0'  3 hand-off window ms or '0' (name nobody)
--       4 '1' PUBLISH counts every listener; and if a waiter is to rejoin the queue,
--       for its attempt was granted here and failed elsewhere:  5 its id  6 its ticket or '0'
--       7 what it says of itself while it queues, if anything
-- reply 0 was not there | 1 released | 2 somebody else's; and 4 more if a waiter was named

local token, result = ARGV[1], 0
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' then
  if string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
    return value
  end
  result = 2
elseif value then
  if string.sub(value, 1, #token + 1) == token .. ':' then
    result = redis.call('DEL', KEYS[1])
  else
    result = 2
  end
end
if ARGV[2] ~= '0' then
  -- Also where the key was just deleted: what may still arrive could set it again.
  redis.call('SET', KEYS[2], '', 'PX', ARGV[2])
elseif result ~= 1 and redis.call('EXISTS', KEYS[2]) == 0 then
  -- A write, so that a replica says READONLY instead of a stale 'not there'.
  redis.call('DEL', KEYS[2])
end
if not ARGV[5] and (ARGV[3] == '0' or redis.call('EXISTS', KEYS[4]) == 0) then
  return result
end
