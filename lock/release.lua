-- Deletes the lock where this token holds it and names the next waiter.
-- KEYS  1 lock  2 tombstone of this token  3 next (reservation)  4 queue
-- ARGV  1 token  2 tombstone ms or '0'  3 hand-off window ms or '0' (name nobody)
--       4 waiter id or ''  5 its ticket or '0'  6 queue ttl ms  7 '1' PUBLISH counts every listener
-- reply {1 released | 0 was not there | -1 somebody else's, 1 if a waiter was named}
-- A waiter id rejoins the queue: its attempt was granted here and failed elsewhere.

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
if result ~= 1 then
  if ARGV[2] ~= '0' then
    redis.call('SET', KEYS[2], '', 'PX', ARGV[2])
  else
    -- A write, so that a replica says READONLY instead of a stale 'not there'.
    redis.call('DEL', KEYS[2])
  end
end

if ARGV[4] ~= '' then
  local ticket = ARGV[5]
  if ticket == '0' then
    local t = redis.call('TIME')
    ticket = string.format('%.0f', t[1] * 1000000 + t[2])
  end
  redis.call('ZADD', KEYS[4], 'NX', ticket, ARGV[4])
  redis.call('PEXPIRE', KEYS[4], ARGV[6])
end
if ARGV[3] ~= '0' and result ~= -1 and redis.call('EXISTS', KEYS[3]) == 0 then
  if name_next(KEYS[1], KEYS[3], KEYS[4], ARGV[3], ARGV[7]) then
    return {result, 1}
  end
end
return {result, 0}
