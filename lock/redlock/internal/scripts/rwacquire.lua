-- Grants the lock to a reader or to a writer, else says by whom it is taken. After rwshared.lua.
-- KEYS  1 lock  2 fence counter  3 tombstone of this token  4 next (reservation)  5 queue  6 bars
--       7 what the caller says of itself while it queues
--       8 index of the readers  9 marker of the server; not in a Redis Cluster, where it has another slot
-- ARGV  1 token  2 holder  3 ttl ms  4 floor us  5 'r' reader or 'w' writer  6 waiter id
--       7 ticket, or '0'  8 '1' queue  9 hand-off window ms if nobody may overtake the queue, else '0'
--       10 '1' PUBLISH counts every listener  11 how long a writer that is refused bars readers ms, or '0'
--       12 what it says of itself, or ''  13 the marker that lets the server vote: see marker.lua
-- reply as acquire.lua: counter granted | {0, pttl ms, holder, ticket, ahead} held
--       {2, pttl ms, '', ticket, ahead} kept for who was named next, or barred by a writer that waits
--       {3} tombstone | {4} the fence counter cannot be counted on from | {5, marker} may not vote

local seen
if ARGV[13] == '' then
  seen = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
else
  seen = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[9])
  if refuses(seen[5], ARGV[13]) then
    return {5, seen[5] or ''}
  end
end
local token, writes, waiter, ticket = ARGV[1], ARGV[5] == 'w', ARGV[6], ARGV[7]

local function bar(place)
  local at = place
  if ticket ~= '0' then
    at = tonumber(ticket)
  elseif place == 0 then
    local stands = redis.call('HGET', KEYS[6], waiter)
    at = stands and tonumber(string.match(stands, '^%d+')) or clock[1] * 1000000 + clock[2]
  end
  redis.call('HSET', KEYS[6], waiter, string.format('%.0f:%.0f', at, now + ARGV[11]))
  if redis.call('PTTL', KEYS[6]) < tonumber(ARGV[11]) then
    redis.call('PEXPIRE', KEYS[6], ARGV[11])
  end
end

local function refuse(code, pttl, holder)
  local place, ahead = 0, 0
  if seen[3] then -- who gave up does not queue, nor bar readers
    return {code, pttl, holder, place, ahead}
  end
  if ARGV[8] == '1' then
    place = join(KEYS[5], waiter, ticket, KEYS[7], ARGV[12] ~= '' and ARGV[12])
    ahead = redis.call('ZRANK', KEYS[5], waiter)
  end
  if writes and ARGV[11] ~= '0' then
    bar(place)
  end
  return {code, pttl, holder, place, ahead}
end

local value, last, first = holders(KEYS[1], KEYS[8], seen[1])
if value then
  if writes and string.sub(value, 1, #token + 1) == token .. ':' then
    return tonumber(string.match(value, '^%x+:(%d+)'))
  end
  return refuse(0, redis.call('PTTL', KEYS[1]), string.match(value, '^%x+:%d+|(.*)$') or '')
end
local mine = not writes and last and reader(KEYS[1], token)
if mine then
  return tonumber(string.match(mine, '^%d+'))
end
if seen[3] then
  return {3}
end
if writes and last then
  return refuse(0, last - now, string.match(reader(KEYS[1], first) or '', '|(.*)$') or '')
end
local kept = seen[4]
if kept and kept ~= waiter and (writes or kept ~= 'r') then
  return refuse(2, redis.call('PTTL', KEYS[4]), '')
end
if not writes then
  local barred
  for _, other in pairs(bars_of(KEYS[6])) do
    if ticket == '0' or other[1] < tonumber(ticket) then
      barred = math.max(barred or 0, other[2])
    end
  end
  if barred then
    return refuse(2, barred - now, '')
  end
elseif ARGV[9] ~= '0' and not kept then
  local head = redis.call('ZRANGE', KEYS[5], 0, 0)[1]
  if head and head ~= waiter and name_group(KEYS[1], KEYS[4], KEYS[5], KEYS[6], false, ARGV[9], ARGV[10]) then
    kept = redis.call('GET', KEYS[4])
    if kept ~= waiter then
      return refuse(2, tonumber(ARGV[9]), '')
    end
  end
end

-- The counter goes on as in acquire.lua for a writer, and for a reader where there is none. A reader
-- leaves it as it is: its fence is that of the writer before.
local counter = seen[2]
local fence = tonumber(counter or '0')
if not fence or fence < 0 or fence % 1 ~= 0 or fence >= 9007199254740991 then
  return {4}
end
if writes or not counter then
  local floor = math.max(math.min(tonumber(ARGV[4]), (clock[1] + 10) * 1000000), (clock[1] - 10) * 1000000)
  fence = math.max(fence + 1, floor)
  redis.call('SET', KEYS[2], string.format('%.0f', fence))
end
local grant = string.format('%.0f', fence) .. '|' .. ARGV[2]
if writes then
  redis.call('SET', KEYS[1], token .. ':' .. grant, 'PX', ARGV[3])
else
  put_reader(KEYS[1], KEYS[8], token, grant, now + ARGV[3], last)
end
if kept then
  redis.call('DEL', KEYS[4])
end
if ARGV[8] == '1' then
  redis.call('ZREM', KEYS[5], waiter)
  redis.call('DEL', KEYS[7])
end
return fence
