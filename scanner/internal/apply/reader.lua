-- Ends the time of one reader of a read/write lock, if it is as it was seen, and leaves the other readers alone. Or
-- gives the key of the readers back the TTL that it should have, which takes nothing from a reader whose time is not
-- over. Readers are fields of a hash, named by their tokens: see keyreader.ReadLease.
-- KEYS  1 key
-- ARGV  1 identity of the reader  2 the least and  3 the most that is left of its time, ms; '-1' '-1': the key must not
--       expire; most '-1': any
--       4 'delete', or the new time left, which must be below the one it has  5 '1' dry run  6 '1' the TTL of the key
-- reply {'gone' | 'changed' | 'would' | 'done', PTTL found}

local key, least, most, act = KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local kind = redis.call('TYPE', key).ok
if kind == 'none' then
  return { 'gone', -2 }
end
local pttl = redis.call('PTTL', key)
if kind ~= 'hash' or redis.call('HLEN', key) > 16 or least == -1 and pttl ~= -1 then
  return { 'changed', pttl }
end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local fields, ends, own = redis.call('HGETALL', key), {}, nil
for i = 1, #fields, 2 do
  local expiry = string.match(fields[i + 1], '^(%d+):%d+|')
  if not expiry or #fields[i] ~= 32 then
    return { 'changed', pttl }
  end
  ends[fields[i]] = tonumber(expiry)
  if '1:' .. redis.sha1hex(fields[i]) == ARGV[1] then
    own = i
  end
end
if not own then
  return { ARGV[6] == '1' and 'changed' or 'gone', pttl }
end

local token = fields[own]
local left = ends[token] - now
if ARGV[6] ~= '1' and (left < least or most >= 0 and left > most or act ~= 'delete' and left <= tonumber(act)) then
  return { 'changed', pttl }
end
if ARGV[5] == '1' then
  return { 'would', pttl }
end

if ARGV[6] == '1' then
  for name, at in pairs(ends) do
    if act == 'delete' and at < now then
      redis.call('HDEL', key, name)
      ends[name] = nil
    end
  end
elseif act == 'delete' then
  redis.call('HDEL', key, token)
  ends[token] = nil
else
  ends[token] = now + act
  local rest = string.match(fields[own + 1], '^%d+(:.*)$')
  redis.call('HSET', key, token, string.format('%.0f', ends[token]) .. rest)
end

-- The key expires with its last reader, as the scripts that lock have it.
local last
for _, at in pairs(ends) do
  last = math.max(last or 0, at - now)
end
if last then
  if ARGV[6] == '1' and act ~= 'delete' then
    last = math.max(last, act)
  end
  redis.call('PEXPIRE', key, string.format('%.0f', math.max(last, 1)))
end
return { 'done', pttl }
