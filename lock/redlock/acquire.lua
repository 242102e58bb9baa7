-- Grants the lock when it is free, else says how long it is taken and by whom.
-- KEYS  1 lock  2 fence counter  3 tombstone of this token  4 next (reservation)  5 queue
-- ARGV  1 token  2 holder  3 ttl ms  4 floor us  5 how many fences to reserve; and of
--       a caller that waits:
--       6 waiter id
--       7 ticket: '' do not queue, '0' join at the end, else rejoin at that place
--       8 hand-off window ms if nobody may overtake the queue (fair), else '0'
--       9 '1' PUBLISH counts every listener
-- reply {1, counter, run} granted: so many fences are reserved, from the counter on
--       {0, pttl ms, holder, ticket, ahead} held
--       {2, pttl ms, '', ticket, ahead} kept for the waiter named next | {3} tombstone
--       {4} the fence counter cannot be counted on from

local token, waiter, ticket = ARGV[1], ARGV[6], ARGV[7]
local seen = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
local value, counter, tombstone, reserved = seen[1], seen[2], seen[3], seen[4]

local function refuse(code, pttl, holder)
  if not waiter or ticket == '' then
    return {code, pttl, holder, 0, 0}
  end
  return {code, pttl, holder, join(KEYS[5], waiter, ticket), redis.call('ZRANK', KEYS[5], waiter)}
end

if value then
  if string.sub(value, 1, #token + 1) == token .. ':' then
    return {1, tonumber(string.match(value, '^%x+:(%d+)')), 1}
  end
  -- A value that is not ours may be another library's owner token: it stays here.
  return refuse(0, redis.call('PTTL', KEYS[1]), string.match(value, '^%x+:%d+|(.*)$') or '')
end
if tombstone then
  return {3}
end
if reserved and reserved ~= waiter then
  return refuse(2, redis.call('PTTL', KEYS[4]), '')
end
if waiter and ARGV[8] ~= '0' and not reserved then
  local head = redis.call('ZRANGE', KEYS[5], 0, 0)[1]
  if head and head ~= waiter then
    local named = name_next(KEYS[1], KEYS[4], KEYS[5], ARGV[8], ARGV[9])
    if named and named ~= waiter then
      return refuse(2, tonumber(ARGV[8]), '')
    end
    reserved = named
  end
end

-- The counter goes on from where it was, and at least from the client's clock, kept
-- within ten seconds of this node's. From 2^53 on numbers are no longer exact: the
-- same token would be granted again and again.
local last = tonumber(counter or '0')
if not last or last < 0 or last % 1 ~= 0 or last >= 9007199254740991 then
  return {4}
end
local fence, floor, digits = last + 1, tonumber(ARGV[4]), ARGV[4]
local time = redis.call('TIME')
local seconds = time[1]
floor = math.max(math.min(floor, (seconds + 10) * 1000000), (seconds - 10) * 1000000)
if floor > fence then
  fence = floor
end
if fence ~= tonumber(digits) then
  digits = string.format('%.0f', fence)
end
-- A run must not outpace the clock: a node that is wiped counts on from there.
local run, stored = tonumber(ARGV[5]), digits
if run > 1 then
  if fence > (seconds + 1) * 1000000 + time[2] or fence + run > 9007199254740991 then
    run = 1
  else
    stored = string.format('%.0f', fence + run - 1)
  end
end
redis.call('SET', KEYS[2], stored)
-- NX: MGET shows a key of another type as missing.
if not redis.call('SET', KEYS[1], token .. ':' .. digits .. '|' .. ARGV[2], 'NX', 'PX', ARGV[3]) then
  return refuse(0, redis.call('PTTL', KEYS[1]), '')
end
if reserved then
  redis.call('DEL', KEYS[4])
end
if waiter and ticket ~= '' and ticket ~= '0' then
  redis.call('ZREM', KEYS[5], waiter)
end
return {1, fence, run}
