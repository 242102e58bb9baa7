-- KEYS: key. ARGV: most fields of a hash, and most bytes.
-- Reply: what describe says of it.
return describe(KEYS[1], call('PTTL', KEYS[1]), tonumber(ARGV[1]), tonumber(ARGV[2]))
