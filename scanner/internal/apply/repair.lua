-- Expires or deletes a key if it still holds the value, and the kind of TTL, that
-- was seen. The value is told by keyreader.Value.Identity. Keys of other types need more than that: see kept.go.
-- KEYS  1 key
-- ARGV  1 identity  2 '-1': it must not expire; else the least PTTL it must have
--       3 'delete' or the new PTTL, which must be below the one it has  4 '1' dry run
-- reply {'gone' | 'changed' | 'would' | 'done', PTTL found}

local key, want, act = KEYS[1], tonumber(ARGV[2]), ARGV[3]
local kind = redis.call('TYPE', key).ok
if kind == 'none' then
  return { 'gone', -2 }
end
local pttl = redis.call('PTTL', key)
local ttl_as_seen = want == -1 and pttl == -1 or want >= 0 and pttl >= want
if kind ~= 'string' or not ttl_as_seen or
  redis.call('STRLEN', key) .. ':' .. redis.sha1hex(redis.call('GETRANGE', key, 0, 255)) ~= ARGV[1] then
  return { 'changed', pttl }
end
if act ~= 'delete' and pttl ~= -1 and pttl <= tonumber(act) then
  return { 'changed', pttl }
end
if ARGV[4] == '1' then
  return { 'would', pttl }
end
if act == 'delete' then
  redis.call('DEL', key)
else
  redis.call('PEXPIRE', key, act)
end
return { 'done', pttl }
