-- The second round of an act on the marker of a server: nothing has happened to it
-- since the first.
-- KEYS  1 marker
-- ARGV  1 what the marker must begin with  2 what to write, or '' to delete it
-- reply 1 replaced, now or before | 0 it is another by now

local marker = redis.call('MGET', KEYS[1])[1]
if marker and marker == ARGV[2] then
  return 1
end
if not marker or string.sub(marker, 1, #ARGV[1]) ~= ARGV[1] then
  return 0
end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2])
end
return 1
