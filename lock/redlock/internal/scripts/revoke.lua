-- Says which grants hold the lock, or marks grants as revoked. A mark is a tombstone that says who revoked it, and why:
-- acquire.lua, extend.lua, rwacquire.lua and rwextend.lua refuse its token. The lock itself stays as it is.
-- KEYS  1 lock  2 and on: the tombstones to write, or one key that nobody writes
--       the last: marker of the server; not in a Redis Cluster, where it has another slot
-- ARGV  1 the record of the marks, or '' to change nothing  2 how long to keep them, ms  3 how many tombstones to write
--       4 the marker that lets the server vote: see marker.lua
-- reply {0, records} free | {1, records, pttl ms, counter, holder, digest of the token} held
--       {2, records, pttl ms, readers} readers hold it, each {digest of the token, ms left, counter, holder}
--       {3, records, pttl ms} another library's | {5, marker} may not vote
--       records are those of the marks that stand, in the order of the tombstones

local seen = redis.call('MGET', KEYS[1], KEYS[#KEYS])
if refuses(seen[2], ARGV[4]) then
  return {5, seen[2] or ''}
end
local pttl, records = redis.call('PTTL', KEYS[1]), {}
if ARGV[1] ~= '' then
  -- No lease of a token lives longer than its TTL after its last renewal began, and that was before the mark.
  local keep = string.format('%.0f', math.max(ARGV[2], 2 * pttl))
  for i = 1, tonumber(ARGV[3]) do
    local mark = redis.call('GET', KEYS[i + 1])
    records[i] = mark and mark ~= '' and mark or ARGV[1]
    redis.call('SET', KEYS[i + 1], records[i], 'PX', keep)
  end
elseif redis.call('EXISTS', KEYS[2]) == 0 then
  -- A write without effect, so that a replica says READONLY instead of what may be stale.
  redis.call('DEL', KEYS[2])
end
if pttl == -2 then
  return {0, records}
end
local token, counter, holder = string.match(seen[1] or '', '^(%x+):(%d+)|(.*)$')
if token then
  return {1, records, pttl, counter, holder, redis.sha1hex(token)}
end
local fields = redis.pcall('HGETALL', KEYS[1])
if fields.err or #fields == 0 then
  return {3, records, pttl}
end
local readers, clock = {}, redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
for i = 2, #fields, 2 do
  local expiry, its, who = string.match(fields[i], '^(%d+):(%d+)|(.*)$')
  if not expiry then
    return {3, records, pttl}
  end
  if tonumber(expiry) >= now then
    readers[#readers + 1] = {redis.sha1hex(fields[i - 1]), expiry - now, its, who}
  end
end
if #readers == 0 then
  return {0, records}
end
return {2, records, pttl, readers}
