-- describe(key, pttl, fields, bytes) tells what a key holds, and no more of it than
-- a lock can be large: { key, pttl, type, size, [text | field, value, ...] }.
-- size is the length of a string and the number of fields of a hash. The text is
-- the first 256 bytes of a string, or the first 2048 of one that begins as
-- lockscope's values do. Fields come only from a hash of at most so many in at most
-- so many bytes; -1 is the size of one of which the server does not say how large
-- it is. Of one that is too large and
-- never expires the only text is 'readers' if a field of it, by chance, is named
-- as a reader's. A key that is gone is
-- { key, -2, "none", 0 }. The plain commands of plain.go do the same.
local call, pcall = redis.call, redis.pcall

local function describe(key, pttl, fields, bytes)
  local head = pcall('GETRANGE', key, 0, 255)
  if type(head) == 'string' then
    local size = #head
    if size == 256 then
      size = call('STRLEN', key)
      if head:find('^' .. ('[0-9a-f]'):rep(32) .. ':%d+|') then
        head = call('GETRANGE', key, 0, 2047)
      end
    elseif size == 0 and call('EXISTS', key) == 0 then
      return { key, -2, 'none', 0 }
    end
    return { key, pttl, 'string', size, head }
  end
  local kind = call('TYPE', key).ok
  if kind == 'string' then
    call('GETRANGE', key, 0, 255) -- fails again: the page says which right is missing
  end
  if kind ~= 'hash' then
    return { key, pttl, kind, 0 }
  end
  local size = call('HLEN', key)
  local entry = { key, pttl, kind, size }
  if size <= fields then
    local used = pcall('MEMORY', 'USAGE', key, 'SAMPLES', 0)
    if type(used) ~= 'number' then
      entry[4] = -1
    elseif used <= bytes then
      for _, text in ipairs(call('HGETALL', key)) do
        entry[#entry + 1] = text
      end
    end
  end
  if pttl == -1 and #entry == 4 and entry[4] > 0 then
    local name = pcall('HRANDFIELD', key)
    if type(name) == 'string' and #name == 32 and not name:find('[^0-9a-f]') then
      entry[5] = 'readers'
    end
  end
  return entry
end
