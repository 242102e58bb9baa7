-- Deletes the lock where this token holds it and names the next waiter.
-- KEYS  1 lock  2 tombstone of this token  3 next (reservation)  4 queue
-- ARGV  1 token  2 tombstone ms or '0'  3 hand-off window ms or '0' (name nobody)
--       4 '1' PUBLISH counts every listener; and if a waiter is to rejoin the queue,
--       for its attempt was granted here and failed elsewhere:  5 its id  6 its ticket or '0'
-- reply {1 released | 0 was not there | -1 somebody else's, 1 if a waiter was named}

local token, result = ARGV[1], 0
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' then
  if string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
    return value
  end
  result = -1
elseif value then
  if string.sub(value, 1, #token + 1) == token .. ':' then
    result = redis.call('DEL', KEYS[1])
  else
    result = -1
  end
end
if ARGV[2] ~= '0' then
  -- Also where the key was just deleted: what may still arrive could set it again.
  redis.call('SET', KEYS[2], '', 'PX', ARGV[2])
elseif result ~= 1 and redis.call('EXISTS', KEYS[2]) == 0 then
  -- A write, so that a replica says READONLY instead of a stale 'not there'.
  redis.call('DEL', KEYS[2])
end

if ARGV[5] then
  join(KEYS[4], ARGV[5], ARGV[6])
end
-- Also where the key is somebody else's: it may be the one node that is wrong.
if ARGV[3] == '0' or redis.call('EXISTS', KEYS[4]) == 0 or redis.call('EXISTS', KEYS[3]) == 1 then
  return {result, 0}
end
if name_next(KEYS[1], KEYS[3], KEYS[4], ARGV[3], ARGV[4]) then
  return {result, 1}
end
return {result, 0}
