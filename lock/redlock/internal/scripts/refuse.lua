-- The rest of acquire.lua, after handoff.lua: somebody holds the lock, or is in front.

local function refuse(code, pttl, holder)
  if not waiter or ticket == '' or seen[3] then -- a call that gave up does not hold up those behind
    return {code, pttl, holder, 0, 0, offer and offer()}
  end
  local place = join(KEYS[5], waiter, ticket, KEYS[6], count > 10 and ARGV[10])
  local ahead = redis.call('ZRANK', KEYS[5], waiter)
  return {code, pttl, holder, place, ahead, offer and offer()}
end

if value then
  -- A value that is not ours may be another library's owner token: it stays here.
  return refuse(0, redis.call('PTTL', KEYS[1]), string.match(value, '^%x+:%d+|(.*)$') or '')
end
if reserved and reserved ~= waiter then
  return refuse(2, redis.call('PTTL', KEYS[4]), '')
end
if overtakes then
  local named = name_next(KEYS[1], KEYS[4], KEYS[5], ARGV[8], ARGV[9])
  if named and named ~= waiter then
    return refuse(2, tonumber(ARGV[8]), '')
  end
  local granted = grant(seen[2], named)
  if granted then
    return granted
  end
end
return refuse(0, redis.call('PTTL', KEYS[1]), '')
