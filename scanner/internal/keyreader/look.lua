-- KEYS: key
-- Reply: what describe says of it.
return describe(KEYS[1], call('PTTL', KEYS[1]))
