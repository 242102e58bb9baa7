-- Shared by the scripts that know the queue of waiters, after what every call of theirs runs.

-- The queue forgets waiters that stopped coming after this long.
local QUEUE_TTL_MS = 120000
-- What a waiter says of itself is written again every ten seconds at least.
local ENTRY_TTL_MS = 30000

-- join gives the waiter its place in the queue, or finds it there, and returns
-- its ticket: the time of its arrival. A ticket other than '0' claims that place.
-- What the waiter says of itself, if anything, is written with the place, which distinguishes
-- this stay in the queue from the waiter's others.
local function join(queue, waiter, ticket, entry, says)
  local place = redis.call('ZSCORE', queue, waiter)
  if not place then
    place = ticket
    if ticket == '0' then
      local t = redis.call('TIME')
      place = string.format('%.0f', t[1] * 1000000 + t[2])
    end
    redis.call('ZADD', queue, place, waiter)
  end
  redis.call('PEXPIRE', queue, QUEUE_TTL_MS)
  place = tonumber(place)
  if says then
    redis.call('SET', entry, string.format('%.0f', place) .. '\n' .. says, 'PX', ENTRY_TTL_MS)
  end
  return place
end

-- name_next takes the head of the queue, keeps the lock for it for a short window
-- and notifies it, by name, that it is its turn. A waiter nobody listens for any more
-- is passed over; in a Redis Cluster PUBLISH counts only this shard's listeners,
-- so there it is not asked. A caller that names itself is not notified.
local function name_next(lock, reservation, queue, window_ms, counts_listeners, caller)
  for _ = 1, 64 do
    local head = redis.call('ZPOPMIN', queue)[1]
    if not head then
      return
    end
    local heard = head == caller or redis.pcall('PUBLISH', 'lockscope:wake:' .. head, lock)
    if heard ~= 0 or counts_listeners ~= '1' then
      redis.call('SET', reservation, head, 'PX', window_ms)
      return head
    end
  end
end

local offer -- what a refusal does about other slots; in offer.lua
