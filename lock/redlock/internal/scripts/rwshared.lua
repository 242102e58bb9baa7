-- Shared by the scripts for readers and writers, after handoff.lua. A writer is a string at the lock's
-- key, as any lock is. A reader is a field of a hash there: its token, with "expiry in ms:counter|holder".
-- The hash expires with the reader that expires last.
-- The index is a sorted set beside the hash, so that no call reads all readers. It has each token twice: at 0, in the
-- order of tokens, and as 'e' .. token at its expiry.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- reader returns "counter|holder" of a reader that has not expired.
local function reader(lock, token)
  local field = redis.pcall('HGET', lock, token)
  local expiry, grant = string.match(type(field) == 'string' and field or '', '^(%d+):(%d+|.*)$')
  if expiry and tonumber(expiry) >= now then
    return grant
  end
end

local function remove_reader(lock, index, token)
  redis.call('ZREM', index, token, 'e' .. token)
  return redis.call('HDEL', lock, token)
end

-- read_all is holders where the index lacks readers: it was lost, or another version of this script wrote the hash.
-- Each reader is back in the index when it is renewed.
local function read_all(lock)
  local fields = redis.call('HGETALL', lock)
  for i = 2, #fields, 2 do
    if not string.match(fields[i], '^%d+:%d+|') then
      return ''
    end
  end
  local last, first
  for i = 1, #fields, 2 do
    local expiry = tonumber(string.match(fields[i + 1], '^%d+'))
    if expiry < now then
      redis.call('HDEL', lock, fields[i])
    else
      last = math.max(last or 0, expiry)
      if not first or fields[i] < first then
        first = fields[i]
      end
    end
  end
  return nil, last, first
end

-- holders returns the writer's value; or the expiry of the last reader, and the first token, which is the same on all
-- nodes that have the same readers. It takes out readers that have expired. What another library has there counts as a
-- value. value is what MGET says of the key, if that was asked.
local function holders(lock, index, value)
  if value == nil then
    value = redis.call('MGET', lock)[1]
  end
  if value then
    return value
  end
  if type(redis.pcall('HLEN', lock)) == 'table' then
    return ''
  end
  local indexed = math.floor(redis.call('ZCARD', index) / 2)
  while indexed > 0 do
    local soonest = redis.call('ZRANGE', index, indexed, indexed, 'WITHSCORES')
    if tonumber(soonest[2]) >= now then
      break
    end
    remove_reader(lock, index, string.sub(soonest[1], 2))
    indexed = indexed - 1
  end
  local size = redis.call('HLEN', lock)
  if size ~= indexed then
    return read_all(lock)
  elseif size > 0 then
    local last = redis.call('ZRANGE', index, -1, -1, 'WITHSCORES')
    return nil, tonumber(last[2]), redis.call('ZRANGE', index, 0, 0)[1]
  end
end

-- read_until sets the expiry of the hash.
local function read_until(lock, index, last)
  local left = string.format('%.0f', math.max(last - now, 1))
  redis.call('PEXPIRE', lock, left)
  redis.call('PEXPIRE', index, left)
end

-- put_reader writes a reader. last is the expiry of the last one beside it, if there is one.
local function put_reader(lock, index, token, grant, expiry, last)
  local ends = string.format('%.0f', expiry)
  redis.call('HSET', lock, token, ends .. ':' .. grant)
  redis.call('ZADD', index, 0, token, ends, 'e' .. token)
  read_until(lock, index, math.max(last or 0, expiry))
end

-- bars_of returns the writers that keep out readers with a later ticket, by their ids. A writer that waits renews its
-- bar about twice a second. One that ends more than a day from now was written by hand, or before the clock was set
-- back: it would keep readers out until then.
local function bars_of(key)
  local bars = {}
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    local ticket, expiry = string.match(fields[i + 1], '^(%d+):(%d+)$')
    if tonumber(expiry) < now or tonumber(expiry) > now + 86400000 then
      redis.call('HDEL', key, fields[i])
    else
      bars[fields[i]] = {tonumber(ticket), tonumber(expiry)}
    end
  end
  return bars
end

-- name_group names one writer if nobody reads, or all readers in front, and keeps the lock for them.
-- A waiter nobody listens for is passed over, and bars nobody any more.
local function name_group(lock, reservation, queue, bars_key, reading, window_ms, counts_listeners)
  local named, bars
  for _ = 1, 64 do
    local head = redis.call('ZRANGE', queue, 0, 0)[1]
    if not head then
      break
    end
    bars = bars or bars_of(bars_key)
    if bars[head] and (reading or named) then
      break
    end
    redis.call('ZREM', queue, head)
    local heard = redis.pcall('PUBLISH', 'lockscope:wake:' .. head, lock)
    if heard ~= 0 or counts_listeners ~= '1' then
      if bars[head] then
        redis.call('SET', reservation, head, 'PX', window_ms)
        return true
      end
      named = true
    elseif bars[head] then
      redis.call('HDEL', bars_key, head)
      bars[head] = nil
    end
  end
  if named and not reading then
    redis.call('SET', reservation, 'r', 'PX', window_ms)
  end
  return named
end

