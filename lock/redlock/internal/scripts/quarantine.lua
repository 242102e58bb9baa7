-- Asks a server that may not vote how long it must keep silent: begins its quarantine,
-- counts it, or ends it. Only both clocks end it, the node's and the callers'.
-- KEYS  1 marker
-- ARGV  1 fingerprint  2 run_id that this connection saw  3 database
--       4 the caller's clock, ms  5 least length ms  6 nonce of a quarantine that begins
--       7 identity of the quarantine, as the caller has read it before, or ''
-- reply {1, marker} it votes | {0, marker, ms left} quarantine
--       {2, marker} a change of the configuration is not finished | {-1, marker} it votes for another
-- A marker is voting|fingerprint|run_id|database, or quarantine or changing with the
-- same and |identity|length ms|node's clock|callers' clock, zeros until they are known;
-- and after changing |fingerprint that is replaced.

local whose = '|' .. ARGV[1] .. '|' .. ARGV[2] .. '|' .. ARGV[3]
-- MGET shows a key of another type as missing.
local marker = redis.call('MGET', KEYS[1])[1]
if marker == 'voting' .. whose then
  return {1, marker}
end
local state, fingerprint, run_id, db, rest = string.match(marker or '', '^(%a+)|([^|]*)|([^|]*)|(%d+)(.*)$')
local known = state == 'voting' or state == 'quarantine' or state == 'changing'
-- Also where it is of before a restart: else a process with an old configuration could win its nodes back, one by one.
if known and fingerprint ~= ARGV[1] then
  return {-1, marker}
end
-- Also where it is of before a restart: the nodes of the former configuration may still be a quorum.
if state == 'changing' then
  return {2, marker}
end

local t = redis.call('TIME')
local now, caller = t[1] * 1000 + math.floor(t[2] / 1000), tonumber(ARGV[4])
local identity, length, node_began, caller_began
if known then
  identity, length, node_began, caller_began = string.match(rest, '^|([^|]+)|(%d+)|(%d+)|(%d+)$')
end

local function write(identity, length, node_began, caller_began)
  marker = string.format('quarantine%s|%s|%.0f|%.0f|%.0f', whose, identity, length, node_began, caller_began)
  redis.call('SET', KEYS[1], marker)
end

length, node_began, caller_began = tonumber(length or 0), tonumber(node_began), tonumber(caller_began)
if length < tonumber(ARGV[5]) then
  length = tonumber(ARGV[5])
end
if not identity or run_id ~= ARGV[2] or db ~= ARGV[3] then
  -- A restart ends no lease of the nodes that a change replaced: its quarantine keeps its kind and its length.
  local kind = string.match(identity or '', '^change%-') or ''
  write(kind .. ARGV[6] .. '.' .. string.format('%.0f', t[1] * 1000000 + t[2]), length, 0, 0)
  return {0, marker, length}
end
-- However long it was under way, the clock of who has read the identity was read after
-- the quarantine began. A clock that is behind its start was stepped back, or is
-- another's: both begin anew, a millisecond late, for clocks are read rounded down.
if ARGV[7] == identity and (node_began == 0 or now + 1 < node_began or caller + 1 < caller_began) then
  node_began, caller_began = now + 1, caller + 1
  write(identity, length, node_began, caller_began)
end
if node_began == 0 then
  return {0, marker, length}
end
if ARGV[7] == identity and now - node_began >= length and caller - caller_began >= length then
  marker = 'voting' .. whose
  redis.call('SET', KEYS[1], marker)
  return {1, marker}
end
return {0, marker, math.max(length - (now - node_began), length - (caller - caller_began), 1)}
