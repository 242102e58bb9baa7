-- Grants the lock when it is free, else says how long it is taken and by whom: the part
-- that every call runs. What it does not decide goes on in handoff.lua and refuse.lua.
-- KEYS  1 lock  2 fence counter  3 tombstone of this token  4 next (reservation)  5 queue
--       what a caller that queues says of itself, if it does: where to; and the marker of
--       the server, always the last; not in a Redis Cluster, where it has another slot
-- ARGV  1 token  2 holder  3 ttl ms  4 floor us  5 run: how many fences to reserve;
--       and of a caller that waits:
--       6 waiter id
--       7 ticket: '' do not queue, '0' join at the end, else rejoin at that place
--       8 hand-off window ms if nobody may overtake the queue (fair), else '0'
--       9 '1' PUBLISH counts every listener
--       10 what it says of itself while it queues, if anything
--       always the last: the marker that lets the server vote: see marker.lua
-- reply counter granted | {1, counter, run} granted, where more than one was asked for
--       {0, pttl ms, holder, ticket, ahead} held
--       {2, pttl ms, '', ticket, ahead} kept for the waiter named next | {3} tombstone
--       {4} the fence counter cannot be counted on from | {5, marker} may not vote

local count = #ARGV
local token, expected = ARGV[1], ARGV[count]
local waiter, ticket = count > 6 and ARGV[6], ARGV[7]
local seen
if expected == '' then
  seen = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
else
  seen = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[#KEYS])
  if refuses(seen[5], expected) then
    return {5, seen[5] or ''}
  end
end
local value, reserved = seen[1], seen[4]

-- grant returns nothing where the key is there after all: MGET shows one of another type as missing.
local function grant(counter, reserved)
  -- The counter goes on from where it was, and at least from the client's clock, kept
  -- within ten seconds of this node's. From 2^53 on numbers are no longer exact: the
  -- same token would be granted again and again.
  local last = tonumber(counter or '0')
  if not last or last < 0 or last % 1 ~= 0 or last >= 9007199254740991 then
    return {4}
  end
  local digits, run = ARGV[4], ARGV[5]
  local asked = tonumber(digits)
  local fence, floor = last + 1, asked
  local now = redis.call('TIME')
  local seconds = now[1]
  if floor > (seconds + 10) * 1000000 then
    floor = (seconds + 10) * 1000000
  elseif floor < (seconds - 10) * 1000000 then
    floor = (seconds - 10) * 1000000
  end
  if floor > fence then
    fence = floor
  end
  if fence ~= asked then
    digits = string.format('%.0f', fence)
  end
  local ends = digits
  if run ~= '1' then
    run = tonumber(run)
    -- Runs must not outpace the clock: from there a node that was wiped counts on.
    if fence > (seconds + 1) * 1000000 + now[2] then
      run = 1
    else
      ends = string.format('%.0f', fence + run - 1)
    end
  end
  redis.call('SET', KEYS[2], ends)
  if not redis.call('SET', KEYS[1], token .. ':' .. digits .. '|' .. ARGV[2], 'NX', 'PX', ARGV[3]) then
    return
  end
  if reserved then
    redis.call('DEL', KEYS[4])
  end
  if waiter and ticket ~= '' and ticket ~= '0' then
    redis.call('ZREM', KEYS[5], waiter)
    if count > 10 then
      redis.call('DEL', KEYS[6])
    end
  end
  if run ~= '1' then
    return {1, fence, run}
  end
  return fence
end

local overtakes -- a fair caller, and somebody else is in front
if value then
  if string.sub(value, 1, #token + 1) == token .. ':' then
    return tonumber(string.match(value, '^%x+:(%d+)'))
  end
elseif seen[3] then
  return {3}
elseif not reserved or reserved == waiter then
  local head
  if waiter and ARGV[8] ~= '0' and not reserved then
    head = redis.call('ZRANGE', KEYS[5], 0, 0)[1]
  end
  if not head or head == waiter then
    local granted = grant(seen[2], reserved)
    if granted then
      return granted
    end
  else
    overtakes = true
  end
end
