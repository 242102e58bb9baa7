-- Reads one page of keys and returns those that deserve a closer look.
-- ARGV: cursor, pattern, COUNT, highest TTL in ms that is fine, first and last of
--       the page's locks whose values are wanted whatever their TTL (0 0: none),
--       1 if helper keys may match, most fields of a hash, and most bytes.
-- Reply: next cursor, number of locks, their descriptions.
local page = call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local keys, limit = page[2], tonumber(ARGV[4])
local first, last = tonumber(ARGV[5]), tonumber(ARGV[6])
local found, locks = {}, 0

-- As IsHelper in glob.go.
local function helper(key)
  return key:sub(1, 10) == 'lockscope:' or key:sub(1, 9) == 'redisson_'
    or key:sub(1, 16) == 'syncguard:fence:' or key:sub(1, 13) == 'syncguard:id:'
    or key:find(':rwlock_timeout:', 1, true)
end

local mixed = ARGV[7] == '1'
for i = 1, #keys do
  local key = keys[i]
  if not (mixed and helper(key)) then
    locks = locks + 1
    local pttl = call('PTTL', key)
    if pttl == -1 or pttl > limit or (locks <= last and locks >= first) then
      found[#found + 1] = describe(key, pttl, tonumber(ARGV[8]), tonumber(ARGV[9]))
    end
  end
end
return { page[1], locks, found }
