-- A revoked lease is marked in the row of its lock, so that an extend need not look elsewhere. Its token also gets a
-- tombstone, which bars what arrives when another grant stands in the row.

-- grant_of names the grant of a token, and does not reveal the token.
CREATE OR REPLACE FUNCTION grant_of(p_token text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT encode(sha256(convert_to(p_token, 'UTF8')), 'hex') $$;

-- forgets is for how many ms the server may not know all locks, after a failover; 0: it knows them.
CREATE OR REPLACE FUNCTION forgets(p_memory bigint, n timestamptz) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE m memory;
BEGIN
  SELECT * INTO m FROM memory;
  IF m.timeline <> timeline() THEN
    RETURN p_memory; -- no acquire has noted it yet
  ELSIF m.changed IS NOT NULL AND n < after(m.changed, p_memory) THEN
    RETURN millis_left(after(m.changed, p_memory), n);
  END IF;
  RETURN 0;
END $$;

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
  forgot := forgets(p_memory, n);
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

-- revoke_readers lists the readers of a lock, and marks those that p_grants names. As revoke_lease, but
--   code       0, or 5 if nothing is said after a failover
--   the arrays have an element for each reader; records has '' for those that were not to be marked
CREATE OR REPLACE FUNCTION revoke_readers(
  p_key text, p_grants text[], p_record text, p_keep bigint, p_memory bigint, p_enforced boolean,
  OUT code int, OUT named text[], OUT fences bigint[], OUT ttls bigint[], OUT holders text[], OUT records text[]
) LANGUAGE plpgsql AS $$
DECLARE
  n timestamptz;
  r reader;
  stands text;
BEGIN
  code := 0; named := '{}'; fences := '{}'; ttls := '{}'; holders := '{}'; records := '{}';
  PERFORM may_vote();
  IF cardinality(p_grants) > 0 THEN
    PERFORM FROM lock WHERE key = p_key FOR UPDATE;
    PERFORM durable();
  END IF;
  n := clock_timestamp();
  IF p_enforced AND forgets(p_memory, n) > 0 THEN
    code := 5;
    RETURN;
  END IF;
  FOR r IN SELECT * FROM reader WHERE key = p_key AND token IS NOT NULL AND expires > n ORDER BY place LOOP
    stands := '';
    IF grant_of(r.token) = ANY (p_grants) THEN
      stands := coalesce(r.mark, p_record);
      UPDATE reader SET mark = stands WHERE key = p_key AND place = r.place;
      INSERT INTO tombstone AS t (token, expires) VALUES (r.token, after(n, greatest(p_keep, 2 * millis_left(r.expires, n))))
        ON CONFLICT (token) DO UPDATE SET expires = greatest(t.expires, excluded.expires);
    END IF;
    named := named || grant_of(r.token); fences := fences || r.counter; ttls := ttls || millis_left(r.expires, n);
    holders := holders || r.holder; records := records || stands;
  END LOOP;
END $$;

-- mark_of is who revoked the grant of a token, and why; '' if nobody did.
CREATE OR REPLACE FUNCTION mark_of(p_key text, p_token text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT mark FROM lock WHERE key = p_key AND token = p_token),
    (SELECT mark FROM reader WHERE key = p_key AND token = p_token AND mark IS NOT NULL LIMIT 1), '');
END $$;
