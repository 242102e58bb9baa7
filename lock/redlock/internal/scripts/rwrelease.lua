-- Takes out the reader, or deletes the writer's lock, that has this token, and names who is next. After
-- rwshared.lua.
-- KEYS  1 lock  2 tombstone of this token  3 next (reservation)  4 queue  5 bars
--       6 where to what a waiter that rejoins says of itself  7 index of the readers
-- ARGV  1 token  2 'r' reader or 'w' writer  3 tombstone ms or '0'  4 hand-off window ms or '0' (name nobody)
--       5 '1' PUBLISH counts every listener  6 id of a waiter that rejoins the queue, or ''  7 its ticket or '0'
--       8 what it says of itself, or ''
-- reply as release.lua: 0 was not there | 1 released | 2 somebody else's; and 4 more if a waiter was named

local token, result = ARGV[1], 0
if ARGV[2] == 'r' and reader(KEYS[1], token) then
  result = remove_reader(KEYS[1], KEYS[7], token)
end
local value, last = holders(KEYS[1], KEYS[7])
if ARGV[2] == 'r' then
  if result == 1 and last then
    read_until(KEYS[1], KEYS[7], last)
  elseif value then
    result = 2
  end
elseif value and string.sub(value, 1, #token + 1) == token .. ':' then
  result = redis.call('DEL', KEYS[1])
elseif value or last then
  result = 2
end
if ARGV[3] ~= '0' then
  -- Also if the token was just taken out: what may still arrive could set it again.
  redis.call('SET', KEYS[2], '', 'PX', ARGV[3])
elseif result ~= 1 and redis.call('EXISTS', KEYS[2]) == 0 then
  -- A write, so that a replica says READONLY instead of a stale 'not there'.
  redis.call('DEL', KEYS[2])
end
if ARGV[6] ~= '' then
  join(KEYS[4], ARGV[6], ARGV[7], KEYS[6], ARGV[8] ~= '' and ARGV[8])
end
-- Also where a writer's key is somebody else's: it may be the one node that is wrong.
if ARGV[4] ~= '0' and redis.call('EXISTS', KEYS[3]) == 0
    and name_group(KEYS[1], KEYS[3], KEYS[4], KEYS[5], last, ARGV[4], ARGV[5]) then
  return result + 4
end
return result
