-- Raises the fence counter to the fence that a quorum agreed on, bound to one exact grant of a reader. After
-- rwshared.lua. A writer's is raised by raise.lua.
-- KEYS  1 lock  2 fence counter
-- ARGV  1 token  2 counter of the grant  3 fence
-- reply 1 raised | 0 the reader is not there, or is another grant

if string.match(reader(KEYS[1], ARGV[1]) or '', '^%d+') ~= ARGV[2] then
  return 0
end
if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(ARGV[3]) then
  redis.call('SET', KEYS[2], ARGV[3])
end
return 1
