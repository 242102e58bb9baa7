-- The first round of an act on the marker of a server: vouching, or a change of the
-- configuration. replace.lua is the second.
-- KEYS  1 marker
-- ARGV  1 state to write: quarantine (vouching, for servers that do not vote) or changing
--       2 fingerprint  3 run_id that this connection saw  4 database
--       5 nonce of this act  6 length ms of the quarantine
--       7 of a change: the marker as it was read, so that no message of it that comes late undoes what followed
--       8 of a change: the fingerprint that it replaces
-- reply {1, marker} it votes already | {0, marker} marked | {-1, marker} what stands in the way

local whose = '|' .. ARGV[2] .. '|' .. ARGV[3] .. '|' .. ARGV[4]
-- MGET shows a key of another type as missing.
local marker = redis.call('MGET', KEYS[1])[1]
local t = redis.call('TIME')
if ARGV[1] == 'changing' then
  if (marker or '') ~= ARGV[7] then
    return {-1, marker or ''}
  end
  -- Of another change that is under way, or was until ten seconds ago. A clock that was stepped back holds nobody up.
  local nonce, began = string.match(marker or '', '^changing|[^|]*|[^|]*|[^|]*|(change%-[^|.]+)%.(%d+)|')
  local age = nonce and t[1] * 1000000 + t[2] - began
  if nonce and nonce ~= ARGV[5] and age >= 0 and age < 10000000 then
    return {-1, marker}
  end
end
if ARGV[1] == 'quarantine' and marker then
  if marker == 'voting' .. whose then
    return {1, marker}
  end
  local ours = 'quarantine' .. whose .. '|'
  if string.sub(marker, 1, #ours) ~= ours then
    return {-1, marker}
  end
  -- Of a change: leases that the old nodes granted can be valid.
  if string.find(marker, '^change%-', #ours + 1) then
    return {-1, marker}
  end
  -- Of another vouch that is under way, or was until a minute ago.
  local nonce, began = string.match(marker, '|(vouch%-[^|.]+)%.(%d+)|[^|]*|[^|]*|[^|]*$')
  if nonce and nonce ~= ARGV[5] and t[1] * 1000000 + t[2] - began < 60000000 then
    return {-1, marker}
  end
end
-- The time makes the identity that of this very call: no message of it that comes late marks the same again.
marker = ARGV[1] .. whose .. '|' .. ARGV[5] .. '.' .. string.format('%.0f', t[1] * 1000000 + t[2]) .. '|' .. ARGV[6] .. '|0|0'
if ARGV[1] == 'changing' then
  marker = marker .. '|' .. ARGV[8]
end
redis.call('SET', KEYS[1], marker)
return {0, marker}
