-- Read/write locks. A writer is the holder in the lock's row, as of any lock. Readers are rows of table
-- reader. Whoever changes either has the lock's row locked, so one transaction at a time decides.

-- kept_for_readers stands in lock.next if any reader may take the lock. It is no waiter's name.
CREATE OR REPLACE FUNCTION kept_for_readers() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'r' $$;

-- name_group notifies one writer if nobody reads, or all readers at the head of the queue. kept is whom the
-- lock is to be kept for, null for nobody; the caller writes it into the lock's row.
CREATE OR REPLACE FUNCTION name_group(p_key text, p_reading boolean, n timestamptz, OUT named boolean, OUT kept text)
LANGUAGE plpgsql AS $$
DECLARE w record;
BEGIN
  named := false;
  FOR w IN SELECT waiter, coalesce(bar_until > n, false) AS writes FROM waiter
    WHERE key = p_key AND seen > n - interval '2 minutes' ORDER BY ticket, waiter LIMIT 64
  LOOP
    EXIT WHEN w.writes AND (p_reading OR named);
    PERFORM out_of_queue(p_key, w.waiter), pg_notify('lockscope:' || w.waiter, p_key);
    named := true;
    IF w.writes THEN
      kept := w.waiter;
      RETURN;
    END IF;
  END LOOP;
  IF named AND NOT p_reading THEN
    kept := kept_for_readers();
  END IF;
END $$;

-- bar keeps out readers that come after this writer, which waits and was refused. p_ticket is its place in
-- the queue; 0: it has none, and came when it was first refused.
CREATE OR REPLACE FUNCTION bar(p_key text, p_waiter text, p_ticket bigint, p_bar bigint, n timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO waiter AS w (key, waiter, ticket, seen, bar_ticket, bar_until)
  VALUES (p_key, p_waiter, 0, '-infinity', CASE WHEN p_ticket > 0 THEN p_ticket ELSE micros(n) END, after(n, p_bar))
  ON CONFLICT (key, waiter) DO UPDATE
    SET bar_until = excluded.bar_until,
        bar_ticket = CASE WHEN p_ticket > 0 OR w.bar_until IS NULL OR w.bar_until <= n THEN excluded.bar_ticket ELSE w.bar_ticket END;
END $$;

-- read_until is when the last reader of a key expires; null if there is none.
CREATE OR REPLACE FUNCTION read_until(p_key text, n timestamptz) RETURNS timestamptz LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT max(expires) FROM reader WHERE key = p_key AND expires > n);
END $$;

-- a_reader is the holder record of one reader.
CREATE OR REPLACE FUNCTION a_reader(p_key text, n timestamptz) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN coalesce((SELECT holder FROM reader WHERE key = p_key AND expires > n ORDER BY place LIMIT 1), '');
END $$;

-- put_reader writes a reader into a row that is free, or a new one.
CREATE OR REPLACE FUNCTION put_reader(p_key text, p_token text, p_fence bigint, p_holder text, p_expires timestamptz, n timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE reader SET token = p_token, counter = p_fence, holder = p_holder, expires = p_expires, mark = NULL
    WHERE key = p_key AND place = (SELECT min(r.place) FROM reader r WHERE r.key = p_key AND r.expires <= n);
  IF NOT FOUND THEN
    INSERT INTO reader (key, place, token, counter, holder, expires)
    SELECT p_key, coalesce(max(place), 0) + 1, p_token, p_fence, p_holder, p_expires FROM reader WHERE key = p_key;
  END IF;
END $$;

-- acquire_shared grants the lock to a reader, or to a writer (p_writes). As acquire, but
--   p_ticket   the caller's place; 0: none yet
--   p_queue    whether it joins the queue if refused
--   p_bar      how long a writer that is refused keeps later readers out, in ms, or 0
-- A reader's fence is one of its own: here one server decides, and it can count.
CREATE OR REPLACE FUNCTION acquire_shared(
  p_key text, p_token text, p_writes boolean, p_holder text, p_ttl bigint, p_floor bigint,
  p_waiter text, p_ticket bigint, p_queue boolean, p_record text, p_fair bigint, p_bar bigint, p_memory bigint, p_enforced boolean,
  OUT code int, OUT fence bigint, OUT run bigint, OUT ttl bigint, OUT held_by text, OUT ticket bigint, OUT ahead bigint, OUT forgot bigint
) LANGUAGE plpgsql AS $$
DECLARE
  l      lock;
  m      memory;
  n      timestamptz;
  here   text;
  dead   boolean;
  barred timestamptz;
  group_ record;
BEGIN
  run := 1; ttl := 0; held_by := ''; ticket := 0; ahead := 0; forgot := 0; fence := 0;
  PERFORM may_vote();
  l := locked(p_key);
  n := clock_timestamp();
  IF l.token IS NOT NULL AND l.expires > n THEN
    IF p_writes AND l.token = p_token AND l.mark IS NULL THEN
      PERFORM durable(); -- the first time may have been cut short before its commit
      code := 1; fence := l.counter;
      RETURN;
    END IF;
    code := 0; ttl := millis_left(l.expires, n); held_by := l.holder;
  ELSE
    IF NOT p_writes THEN
      SELECT r.counter INTO fence FROM reader r WHERE r.key = p_key AND r.token = p_token AND r.expires > n AND r.mark IS NULL;
      IF FOUND THEN
        PERFORM durable();
        code := 1;
        RETURN;
      END IF;
    END IF;
    SELECT w.*, timeline(), EXISTS (SELECT FROM tombstone t WHERE t.token = p_token AND t.expires > n)
      INTO m.one, m.fence, m.timeline, m.changed, here, dead FROM memory w;
    IF dead THEN
      code := 3; fence := 0;
      RETURN;
    END IF;
    code := 1;
    IF l.next_until <= n THEN
      l.next := NULL;
    END IF;
    IF p_writes AND l.read_until > n THEN
      code := 0; ttl := millis_left(l.read_until, n); held_by := a_reader(p_key, n);
    ELSIF l.next <> p_waiter AND (p_writes OR l.next <> kept_for_readers()) THEN
      code := 2; ttl := millis_left(l.next_until, n);
    ELSIF NOT p_writes THEN
      SELECT max(w.bar_until) INTO barred FROM waiter w
        WHERE w.key = p_key AND w.bar_until > n AND (p_ticket = 0 OR w.bar_ticket < p_ticket);
      IF barred IS NOT NULL THEN
        code := 2; ttl := millis_left(barred, n);
      END IF;
    ELSIF l.next IS NULL AND p_fair > 0 AND first_of(p_key, n) <> p_waiter THEN
      group_ := name_group(p_key, false, n);
      IF group_.kept IS NOT NULL AND group_.kept <> p_waiter THEN
        code := 2; ttl := p_fair;
        UPDATE lock SET next = group_.kept, next_until = after(n, p_fair) WHERE key = p_key;
      END IF;
    END IF;
  END IF;

  IF code <> 1 THEN
    fence := 0;
    PERFORM set_config('synchronous_commit', 'off', true); -- nothing depends on it
    IF EXISTS (SELECT FROM tombstone t WHERE t.token = p_token AND t.expires > n) THEN
      RETURN; -- who gave up does not queue, nor bar readers
    END IF;
    IF p_queue THEN
      ticket := join_queue(p_key, p_waiter, p_ticket, p_record, n);
      SELECT count(*) INTO ahead FROM waiter w
        WHERE w.key = p_key AND w.seen > n - interval '2 minutes' AND (w.ticket, w.waiter) < (acquire_shared.ticket, p_waiter);
    END IF;
    IF p_writes AND p_bar > 0 AND p_waiter <> '' THEN
      PERFORM bar(p_key, p_waiter, greatest(p_ticket, ticket), p_bar, n);
    END IF;
    RETURN;
  END IF;

  IF m.timeline <> here THEN
    UPDATE memory SET timeline = here, changed = n WHERE timeline = m.timeline;
    SELECT * INTO m FROM memory;
  END IF;
  IF m.changed IS NOT NULL AND n < after(m.changed, p_memory) THEN
    forgot := millis_left(after(m.changed, p_memory), n);
    IF p_enforced THEN
      code := 5; fence := 0;
      PERFORM durable();
      RETURN;
    END IF;
  END IF;
  fence := greatest(l.fence, m.fence);
  IF fence >= 9007199254740991 THEN
    code := 4;
    RETURN;
  END IF;
  fence := greatest(fence + 1, least(greatest(p_floor, micros(n) - 10000000), micros(n) + 10000000));
  PERFORM durable();
  IF p_writes THEN
    UPDATE lock SET token = p_token, counter = acquire_shared.fence, fence = acquire_shared.fence, holder = p_holder,
      expires = after(n, p_ttl), next = NULL, next_until = NULL, read_until = NULL, mark = NULL WHERE key = p_key;
  ELSE
    PERFORM put_reader(p_key, p_token, fence, p_holder, after(n, p_ttl), n);
    UPDATE lock SET fence = acquire_shared.fence, next = NULL, next_until = NULL,
      read_until = greatest(read_until, after(n, p_ttl)) WHERE key = p_key;
  END IF;
  IF p_queue OR p_bar > 0 THEN
    UPDATE waiter SET seen = '-infinity', record = '', bar_until = NULL
      WHERE key = p_key AND waiter = p_waiter AND (seen > '-infinity' OR bar_until IS NOT NULL);
  END IF;
END $$;

-- extend_reader prolongs the time of one reader. A reader that has run out may be put back, which is no
-- vote, unless somebody waits for the place. Replies as extend.
CREATE OR REPLACE FUNCTION extend_reader(p_key text, p_token text, p_ttl bigint, p_refill boolean, p_fence bigint, p_holder text)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  l      lock;
  n      timestamptz;
  result int := 1;
BEGIN
  l := locked(p_key);
  n := clock_timestamp();
  UPDATE reader SET expires = after(n, p_ttl) WHERE key = p_key AND token = p_token AND expires > n AND mark IS NULL;
  IF NOT FOUND THEN
    IF l.token IS NOT NULL AND l.expires > n THEN
      RETURN -1;
    ELSIF EXISTS (SELECT FROM reader r WHERE r.key = p_key AND r.token = p_token AND r.mark IS NOT NULL) THEN
      RETURN -3;
    ELSIF NOT p_refill OR l.next_until > n
      OR EXISTS (SELECT FROM tombstone t WHERE t.token = p_token AND t.expires > n)
      OR EXISTS (SELECT FROM waiter w WHERE w.key = p_key AND w.bar_until > n) THEN
      RETURN 0;
    END IF;
    PERFORM put_reader(p_key, p_token, p_fence, p_holder, after(n, p_ttl), n);
    result := 2;
  END IF;
  PERFORM durable();
  UPDATE lock SET fence = greatest(fence, p_fence), read_until = read_until(p_key, n) WHERE key = p_key;
  RETURN result;
END $$;

-- release_shared takes a reader or a writer out. As release, but it names one writer if nobody is left, or
-- all readers at the head of the queue.
CREATE OR REPLACE FUNCTION release_shared(
  p_key text, p_token text, p_writes boolean, p_tombstone bigint, p_window bigint, p_waiter text, p_ticket bigint, p_record text,
  OUT what int, OUT named boolean
) LANGUAGE plpgsql AS $$
DECLARE
  l      lock;
  n      timestamptz;
  group_ record;
BEGIN
  named := false;
  what := 0;
  IF p_tombstone = 0 THEN
    -- A crash may bring the lock back: it ends with its TTL then.
    PERFORM set_config('synchronous_commit', 'off', true);
  END IF;
  l := locked(p_key);
  n := clock_timestamp();
  IF p_tombstone > 0 THEN
    INSERT INTO tombstone AS t (token, expires) VALUES (p_token, after(n, p_tombstone))
      ON CONFLICT (token) DO UPDATE SET expires = greatest(t.expires, excluded.expires);
  END IF;
  IF l.expires <= n THEN
    l.token := NULL;
  END IF;
  IF p_writes THEN
    IF l.token = p_token THEN
      what := 1;
      l.token := NULL;
    ELSIF l.token IS NOT NULL OR l.read_until > n THEN
      what := 2;
    END IF;
  ELSE
    UPDATE reader SET token = NULL, holder = '', expires = '-infinity', mark = NULL WHERE key = p_key AND token = p_token AND expires > n;
    IF FOUND THEN
      what := 1;
      l.read_until := read_until(p_key, n);
    ELSIF l.token IS NOT NULL THEN
      what := 2;
    END IF;
  END IF;
  IF p_waiter <> '' THEN
    PERFORM join_queue(p_key, p_waiter, p_ticket, p_record, n);
  END IF;
  IF p_window > 0 AND l.token IS NULL AND (l.next IS NULL OR l.next_until <= n) THEN
    group_ := name_group(p_key, coalesce(l.read_until > n, false), n);
    named := group_.named;
    l.next := group_.kept;
    l.next_until := after(n, p_window);
  END IF;
  IF what = 1 OR named THEN
    UPDATE lock SET token = l.token, expires = CASE WHEN l.token IS NULL THEN NULL ELSE l.expires END,
      holder = CASE WHEN l.token IS NULL THEN '' ELSE l.holder END,
      next = l.next, next_until = l.next_until, read_until = l.read_until WHERE key = p_key;
  END IF;
END $$;

-- leave_shared takes out of the queue a waiter that gave up, with its bar; if it had just been named, or had
-- barred others, the next ones are named in its place.
CREATE OR REPLACE FUNCTION leave_shared(p_key text, p_waiter text, p_window bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  l      lock;
  n      timestamptz;
  barred boolean;
  queued boolean;
  kept   boolean;
  group_ record;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  l := locked(p_key);
  n := clock_timestamp();
  UPDATE waiter SET bar_until = NULL WHERE key = p_key AND waiter = p_waiter AND bar_until > n;
  barred := FOUND;
  queued := out_of_queue(p_key, p_waiter);
  kept := l.next IS NOT NULL AND l.next_until > n;
  IF NOT (kept AND l.next = p_waiter) AND (kept OR NOT barred) THEN
    RETURN queued;
  END IF;
  l.next := NULL;
  IF l.token IS NULL OR l.expires <= n THEN
    group_ := name_group(p_key, coalesce(l.read_until > n, false), n);
    l.next := group_.kept;
  END IF;
  UPDATE lock SET next = l.next, next_until = after(n, p_window) WHERE key = p_key;
  RETURN true;
END $$;
