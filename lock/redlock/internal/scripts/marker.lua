-- Goes before the scripts that compare the marker of the server.
-- A caller expects '' if any marker will do, or the one marker that lets the server vote for it. A caller without a
-- quarantine, such as one of one or two nodes, passes its fingerprint instead. Then the server refuses only if it
-- counts for another set of three nodes or more: the marker decides, not the number of nodes that the caller names.

local function refuses(marker, expected)
  if expected == '' or marker == expected then
    return false
  end
  if not string.find(expected, '^%d') then
    return true
  end
  -- Also where it is of before a restart, and whatever database it names: the set may have leases.
  local state, set, rest = string.match(marker or '', '^(%a+)|([^|]*)|[^|]*|%d+(.*)$')
  local function counts_for(other)
    return other ~= expected and (tonumber(string.match(other, '^%d+')) or 0) > 2
  end
  if state == 'changing' then
    -- An unfinished change may be taken back. A node that has left its set counts for none.
    return not string.find(rest, '^|left%-') and (counts_for(set) or counts_for(string.match(rest, '[^|]*$')))
  end
  -- A change to one or two nodes makes them wait for the leases of the set that it replaced.
  if state == 'quarantine' and set == expected and string.find(rest, '^|change%-') then
    return true
  end
  return (state == 'voting' or state == 'quarantine') and counts_for(set)
end

