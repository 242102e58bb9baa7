-- Expires or deletes a key if it still holds the value, and the kind of TTL, that
-- was seen. The value is told by keyreader.Value.Identity.
-- KEYS  1 key
-- ARGV  1 type  2 identity  3 '-1': it must not expire; else the least PTTL it must have
--       4 'delete' or the new PTTL, which must be below the one it has  5 '1' dry run
-- reply {'gone' | 'changed' | 'would' | 'done', PTTL found}

-- Lua compares strings by the server's locale, Value.Identity by their bytes.
local function before(a, b)
  for i = 1, math.min(#a, #b) do
    if a:byte(i) ~= b:byte(i) then
      return a:byte(i) < b:byte(i)
    end
  end
  return #a < #b
end

local function identity(kind, key)
  if kind == 'string' then
    return redis.call('STRLEN', key) .. ':' .. redis.sha1hex(redis.call('GETRANGE', key, 0, 255))
  end
  if kind ~= 'hash' or redis.call('HLEN', key) > 16 or redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0) > 4096 then
    return nil
  end
  local names = redis.call('HKEYS', key)
  table.sort(names, before)
  return #names .. ':' .. redis.sha1hex(table.concat(names, '\0'))
end

local key, want, act = KEYS[1], tonumber(ARGV[3]), ARGV[4]
local kind = redis.call('TYPE', key).ok
if kind == 'none' then
  return { 'gone', -2 }
end
local pttl = redis.call('PTTL', key)
local ttl_as_seen = want == -1 and pttl == -1 or want >= 0 and pttl >= want
if kind ~= ARGV[1] or not ttl_as_seen or identity(kind, key) ~= ARGV[2] then
  return { 'changed', pttl }
end
if act ~= 'delete' and pttl ~= -1 and pttl <= tonumber(act) then
  return { 'changed', pttl }
end
if ARGV[5] == '1' then
  return { 'would', pttl }
end
if act == 'delete' then
  redis.call('DEL', key)
else
  redis.call('PEXPIRE', key, act)
end
return { 'done', pttl }
