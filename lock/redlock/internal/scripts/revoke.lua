-- Says which grant holds the lock, or marks a grant as revoked. The mark is a tombstone that says who revoked it, and
-- why: acquire.lua and extend.lua refuse its token. The lock itself stays as it is.
-- KEYS  1 lock  2 the tombstone to write, or a key that nobody writes
--       3 marker of the server; not in a Redis Cluster, where it has another slot
-- ARGV  1 the record of the mark, or '' to change nothing  2 how long to keep it, ms
--       3 the marker that lets the server vote, or '' if it votes anyway
-- reply {0, record} free | {1, record, pttl ms, counter, holder, digest of the token} held
--       {2, record, pttl ms} readers hold it | {3, record, pttl ms} another library's | {5, marker} may not vote
--       record is that of the mark that stands, '' without one

local seen = redis.call('MGET', KEYS[1], KEYS[2], KEYS[#KEYS])
if ARGV[3] ~= '' and seen[3] ~= ARGV[3] then
  return {5, seen[3] or ''}
end
local pttl, record = redis.call('PTTL', KEYS[1]), ''
if ARGV[1] ~= '' then
  -- No lease of the token lives longer than its TTL after its last renewal began, and that was before the mark.
  record = ARGV[1]
  if seen[2] and seen[2] ~= '' then
    record = seen[2]
  end
  redis.call('SET', KEYS[2], record, 'PX', string.format('%.0f', math.max(ARGV[2], 2 * pttl)))
elseif redis.call('EXISTS', KEYS[2]) == 0 then
  -- A write without effect, so that a replica says READONLY instead of what may be stale.
  redis.call('DEL', KEYS[2])
end
if pttl == -2 then
  return {0, record}
end
local token, counter, holder = string.match(seen[1] or '', '^(%x+):(%d+)|(.*)$')
if token then
  return {1, record, pttl, counter, holder, redis.sha1hex(token)}
end
local readers = redis.pcall('HGETALL', KEYS[1])
if not readers.err and string.match(readers[2] or '', '^%d+:%d+|') then
  return {2, record, pttl}
end
return {3, record, pttl}
