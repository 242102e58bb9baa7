-- Grants the lock when it is free, else says how long it is taken and by whom.
-- KEYS  1 lock  2 fence counter  3 tombstone of this token  4 next (reservation)  5 queue
-- ARGV  1 token  2 holder  3 ttl ms  4 floor us  5 waiter id or ''
--       6 ticket: '' do not queue, '0' join at the end, else rejoin at that place
--       7 '1' fair: nobody overtakes the queue  8 queue ttl ms  9 hand-off window ms
--       10 '1' PUBLISH counts every listener
-- reply {1, counter} granted | {0, pttl ms, holder, ticket, ahead} held
--       {2, pttl ms, '', ticket, ahead} kept for the waiter named next | {3} tombstone

local token, waiter = ARGV[1], ARGV[5]

local function now_us()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

local function refuse(code, pttl, holder)
  if waiter == '' or ARGV[6] == '' then
    return {code, pttl, holder, 0, 0}
  end
  local ticket = redis.call('ZSCORE', KEYS[5], waiter)
  if not ticket then
    ticket = ARGV[6]
    if ticket == '0' then
      ticket = string.format('%.0f', now_us())
    end
    redis.call('ZADD', KEYS[5], ticket, waiter)
  end
  redis.call('PEXPIRE', KEYS[5], ARGV[8])
  return {code, pttl, holder, tonumber(ticket), redis.call('ZRANK', KEYS[5], waiter)}
end

local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' then
  if string.sub(value.err, 1, 9) ~= 'WRONGTYPE' then
    return value
  end
  return refuse(0, redis.call('PTTL', KEYS[1]), '')
end

if value then
  if string.sub(value, 1, #token + 1) == token .. ':' then
    return {1, tonumber(string.match(value, '^%x+:(%d+)'))}
  end
  -- A value that is not ours may be another library's owner token: it stays here.
  return refuse(0, redis.call('PTTL', KEYS[1]), string.match(value, '^%x+:%d+|(.*)$') or '')
end

if redis.call('EXISTS', KEYS[3], KEYS[4]) > 0 then
  if redis.call('EXISTS', KEYS[3]) == 1 then
    return {3}
  end
  if redis.call('GET', KEYS[4]) ~= waiter then
    return refuse(2, redis.call('PTTL', KEYS[4]), '')
  end
  redis.call('DEL', KEYS[4])
elseif ARGV[7] == '1' then
  local head = redis.call('ZRANGE', KEYS[5], 0, 0)[1]
  if head and head ~= waiter then
    local named = name_next(KEYS[1], KEYS[4], KEYS[5], ARGV[9], ARGV[10])
    if named and named ~= waiter then
      return refuse(2, tonumber(ARGV[9]), '')
    end
    redis.call('DEL', KEYS[4])
  end
end

local counter = tonumber(redis.call('GET', KEYS[2]) or '0') + 1
local floor = math.min(tonumber(ARGV[4]), now_us() + 10000000)
if floor > counter then
  counter = floor
end
local digits = string.format('%.0f', counter)
redis.call('SET', KEYS[2], digits)
redis.call('SET', KEYS[1], token .. ':' .. digits .. '|' .. ARGV[2], 'PX', ARGV[3])
if waiter ~= '' then
  redis.call('ZREM', KEYS[5], waiter)
end
return {1, counter}
