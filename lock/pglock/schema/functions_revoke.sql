-- A revoked lease is marked in the row of its lock, so that an extend need not look elsewhere. Its token also gets a
-- tombstone, which bars what arrives when another grant stands in the row.

-- grant_of names the grant of a token, and does not reveal the token.
CREATE OR REPLACE FUNCTION grant_of(p_token text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT encode(sha256(convert_to(p_token, 'UTF8')), 'hex') $$;

-- revoke_lease says which grant holds a lock, and marks it if it is p_grant. An empty p_grant changes nothing.
--   p_record               the mark; one that is there already stays
--   p_keep                 how long the token is barred at least, in ms
--   p_memory, p_enforced   as for acquire
--   code                   0 held, 1 free, 5 nothing is said after a failover, 7 readers hold it
--   record                 the mark that stands, '' without one
CREATE OR REPLACE FUNCTION revoke_lease(
  p_key text, p_grant text, p_record text, p_keep bigint, p_memory bigint, p_enforced boolean,
  OUT code int, OUT named text, OUT fence bigint, OUT ttl bigint, OUT held_by text, OUT record text, OUT forgot bigint
) LANGUAGE plpgsql AS $$
DECLARE
  l lock;
  m memory;
  n timestamptz;
BEGIN
  code := 1; named := ''; fence := 0; ttl := 0; held_by := ''; record := ''; forgot := 0;
  PERFORM may_vote();
  IF p_grant = '' THEN
    SELECT * INTO l FROM lock WHERE key = p_key;
  ELSE
    SELECT * INTO l FROM lock WHERE key = p_key FOR UPDATE;
  END IF;
  n := clock_timestamp();
  SELECT * INTO m FROM memory;
  IF m.timeline <> timeline() THEN
    forgot := p_memory; -- no acquire has noted it yet
  ELSIF m.changed IS NOT NULL AND n < after(m.changed, p_memory) THEN
    forgot := millis_left(after(m.changed, p_memory), n);
  END IF;
  IF forgot > 0 AND p_enforced THEN
    code := 5;
    RETURN;
  END IF;
  IF l.token IS NOT NULL AND l.expires > n THEN
    code := 0; named := grant_of(l.token); fence := l.counter; ttl := millis_left(l.expires, n); held_by := l.holder;
  ELSIF l.read_until > n THEN
    code := 7; ttl := millis_left(l.read_until, n);
  END IF;
  IF named = '' OR named <> p_grant THEN
    RETURN;
  END IF;
  record := coalesce(l.mark, p_record);
  PERFORM durable();
  UPDATE lock SET mark = record WHERE key = p_key;
  INSERT INTO tombstone AS t (token, expires) VALUES (l.token, after(n, greatest(p_keep, 2 * ttl)))
    ON CONFLICT (token) DO UPDATE SET expires = greatest(t.expires, excluded.expires);
END $$;

-- mark_of is who revoked the grant of a token, and why; '' if nobody did.
CREATE OR REPLACE FUNCTION mark_of(p_key text, p_token text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT mark FROM lock WHERE key = p_key AND token = p_token), '');
END $$;
