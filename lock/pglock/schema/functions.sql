-- Each call of the driver is one of these functions, in a transaction of its own: so that
-- it works through a pooler that keeps no session. They are made anew by every migration.
-- In them the lock's row is locked first and the clock read after that: a clock that was
-- read before would be late by as long as the row was waited for.

-- These are not IMMUTABLE, which what they are made of is not either: the server would not
-- inline them then, and call each.
CREATE OR REPLACE FUNCTION micros(t timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$ SELECT (extract(epoch FROM t) * 1000000)::bigint $$;

-- millis_left rounds up, so that nobody comes too early.
CREATE OR REPLACE FUNCTION millis_left(t timestamptz, n timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$ SELECT greatest(ceil(extract(epoch FROM t - n) * 1000), 1)::bigint $$;

CREATE OR REPLACE FUNCTION after(n timestamptz, ms bigint) RETURNS timestamptz
LANGUAGE sql STABLE AS $$ SELECT n + ms * interval '1 millisecond' $$;

-- durable makes the transaction wait for its own commit to be on disk, and on the
-- standbys that the server waits for. Whoever gets a lock must not lose it to a crash.
CREATE OR REPLACE FUNCTION durable() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END $$;

-- locked locks the row of a key, and makes it if there is none.
CREATE OR REPLACE FUNCTION locked(p_key text) RETURNS lock LANGUAGE plpgsql AS $$
DECLARE l lock;
BEGIN
  LOOP
    SELECT * INTO l FROM lock WHERE key = p_key FOR UPDATE;
    IF FOUND THEN
      RETURN l;
    END IF;
    INSERT INTO lock (key) VALUES (p_key) ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- timeline is that of the server's history: a standby that is promoted begins another,
-- and so does a backup that is restored. It is VOLATILE as what it is made of, or the server
-- would not inline it.
CREATE OR REPLACE FUNCTION timeline() RETURNS text
LANGUAGE sql VOLATILE AS $$ SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) $$;

-- join_queue gives a waiter its place, or finds it there. A ticket other than 0 claims
-- that place.
CREATE OR REPLACE FUNCTION join_queue(p_key text, p_waiter text, p_ticket bigint, p_record text, n timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE place bigint;
BEGIN
  INSERT INTO waiter AS w (key, waiter, ticket, record, seen)
  VALUES (p_key, p_waiter, CASE WHEN p_ticket > 0 THEN p_ticket ELSE micros(n) END, p_record, n)
  ON CONFLICT (key, waiter) DO UPDATE
    SET seen = n, record = CASE WHEN p_record <> '' THEN p_record ELSE w.record END,
        ticket = CASE WHEN w.seen > n - interval '2 minutes' THEN w.ticket ELSE excluded.ticket END
  RETURNING w.ticket INTO place;
  RETURN place;
END $$;

-- first_of is who has waited for longest; it takes the processes that wait for a key, of which there
-- are some, one by one.
CREATE OR REPLACE FUNCTION first_of(p_key text, n timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE head text;
BEGIN
  SELECT waiter INTO head FROM waiter WHERE key = p_key AND seen > n - interval '2 minutes' ORDER BY ticket, waiter LIMIT 1;
  RETURN head;
END $$;

-- out_of_queue says that somebody waits no longer, and whether it did.
CREATE OR REPLACE FUNCTION out_of_queue(p_key text, p_waiter text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waiter SET seen = '-infinity', record = '' WHERE key = p_key AND waiter = p_waiter AND seen > '-infinity';
  RETURN FOUND;
END $$;

-- name_next takes the head of the queue and tells it that the lock is kept for it, which the
-- caller writes into the lock's row. It has that locked.
CREATE OR REPLACE FUNCTION name_next(p_key text, n timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE head text := first_of(p_key, n);
BEGIN
  IF head IS NOT NULL THEN
    PERFORM out_of_queue(p_key, head), pg_notify('lockscope:' || head, p_key);
  END IF;
  RETURN head;
END $$;

-- acquire grants the lock if it is free, or if the token holds it already.
--   p_ticket      null: do not queue, 0: join at the end, else rejoin at that place
--   p_fair        hand-off window in ms if nobody may overtake the queue, else 0
--   p_memory      for how long the server is not believed after a failover, in ms
--   p_enforced    whether it then grants nothing
--   code          1 granted, 0 held, 2 kept for the waiter named next, 3 the attempt was given up,
--                 4 the fence counter cannot be counted on from, 5 may not grant yet
--   forgot        of another timeline than the last locks: what is left of p_memory in ms, else 0
CREATE OR REPLACE FUNCTION acquire(
  p_key text, p_token text, p_holder text, p_ttl bigint, p_floor bigint, p_run bigint,
  p_waiter text, p_ticket bigint, p_record text, p_fair bigint, p_memory bigint, p_enforced boolean,
  OUT code int, OUT fence bigint, OUT run bigint, OUT ttl bigint, OUT held_by text, OUT ticket bigint, OUT ahead bigint, OUT forgot bigint
) LANGUAGE plpgsql AS $$
DECLARE
  l    lock;
  m    memory;
  n    timestamptz;
  here text;
  head text;
  dead boolean;
BEGIN
  run := 1; ttl := 0; held_by := ''; ticket := 0; ahead := 0; forgot := 0; fence := 0;
  IF pg_is_in_recovery() THEN
    RAISE read_only_sql_transaction USING MESSAGE = 'this server follows another one';
  ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
    -- What others have written while the row was waited for would not be seen.
    RAISE feature_not_supported USING MESSAGE = 'default_transaction_isolation is ' || current_setting('transaction_isolation');
  END IF;
  IF p_ticket IS NULL THEN
    -- Who does not queue can be refused without waiting for anybody.
    SELECT * INTO l FROM lock WHERE key = p_key;
    n := clock_timestamp();
    IF l.token <> p_token AND l.expires > n THEN
      code := 0; ttl := millis_left(l.expires, n); held_by := l.holder;
      RETURN;
    END IF;
  END IF;

  SELECT * INTO l FROM lock WHERE key = p_key FOR UPDATE;
  IF NOT FOUND THEN
    l := locked(p_key);
  END IF;
  n := clock_timestamp();
  IF l.token = p_token AND l.mark IS NOT NULL THEN
    code := 3;
    RETURN;
  ELSIF l.token = p_token AND l.expires > n THEN
    PERFORM durable(); -- the first time may have been cut short before its commit
    code := 1; fence := l.counter;
    RETURN;
  END IF;
  IF l.read_until > n THEN
    code := 0; ttl := millis_left(l.read_until, n); held_by := a_reader(p_key, n);
  ELSIF l.token IS NULL OR l.expires <= n THEN
    code := 1;
    -- One statement for all that is read: each costs some microseconds more than what it reads.
    SELECT w.*, timeline(), EXISTS (SELECT FROM tombstone t WHERE t.token = p_token AND t.expires > n)
      INTO m.one, m.fence, m.timeline, m.changed, here, dead FROM memory w;
    IF dead THEN
      code := 3;
      RETURN;
    END IF;
    IF l.next_until <= n THEN
      l.next := NULL;
    END IF;
    IF l.next IS NULL AND p_fair > 0 THEN
      head := first_of(p_key, n);
      IF head <> p_waiter THEN
        l.next := name_next(p_key, n);
        l.next_until := after(n, p_fair);
        UPDATE lock SET next = l.next, next_until = l.next_until WHERE key = p_key;
      END IF;
    END IF;
    IF l.next <> p_waiter THEN
      code := 2; ttl := millis_left(l.next_until, n);
    END IF;
  ELSE
    code := 0; ttl := millis_left(l.expires, n); held_by := l.holder;
  END IF;

  IF code <> 1 THEN
    PERFORM set_config('synchronous_commit', 'off', true); -- nothing depends on it
    -- Who gave up does not queue: nobody would take it out.
    IF p_ticket IS NOT NULL AND NOT EXISTS (SELECT FROM tombstone t WHERE t.token = p_token AND t.expires > n) THEN
      ticket := join_queue(p_key, p_waiter, p_ticket, p_record, n);
      SELECT count(*) INTO ahead FROM waiter w
        WHERE w.key = p_key AND w.seen > n - interval '2 minutes' AND (w.ticket, w.waiter) < (acquire.ticket, p_waiter);
    END IF;
    RETURN;
  END IF;

  IF m.timeline <> here THEN
    -- Whoever comes first tells the others, and the row is its to change.
    UPDATE memory SET timeline = here, changed = n WHERE timeline = m.timeline;
    SELECT * INTO m FROM memory;
  END IF;
  IF m.changed IS NOT NULL AND n < after(m.changed, p_memory) THEN
    forgot := millis_left(after(m.changed, p_memory), n);
    IF p_enforced THEN
      code := 5;
      PERFORM durable();
      RETURN;
    END IF;
  END IF;

  fence := greatest(l.fence, m.fence);
  IF fence >= 9007199254740991 THEN
    code := 4;
    RETURN;
  END IF;
  -- The client's clock, kept within ten seconds of this one's.
  fence := greatest(fence + 1, least(greatest(p_floor, micros(n) - 10000000), micros(n) + 10000000));
  -- Runs must not outpace the clock: from there a server that was wiped counts on.
  IF fence <= micros(n) + 1000000 THEN
    run := p_run;
  END IF;
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM durable();
  END IF;
  UPDATE lock SET token = p_token, counter = acquire.fence, fence = acquire.fence + acquire.run - 1, holder = p_holder,
    expires = after(n, p_ttl), next = NULL, next_until = NULL, mark = NULL WHERE key = p_key;
  IF p_ticket > 0 THEN
    PERFORM out_of_queue(p_key, p_waiter);
  END IF;
END $$;

-- raise lifts the fence counter, only if the lock is still that grant.
CREATE OR REPLACE FUNCTION raise(p_key text, p_token text, p_counter bigint, p_fence bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE l lock;
BEGIN
  SELECT * INTO l FROM lock WHERE key = p_key FOR UPDATE;
  IF l.token = p_token AND l.counter = p_counter AND l.expires > clock_timestamp() THEN
    PERFORM durable();
    UPDATE lock SET fence = greatest(fence, p_fence) WHERE key = p_key;
    RETURN true;
  END IF;
  RETURN false;
END $$;

-- extend prolongs the lock where the token holds it: 1. Where it has run out and nobody
-- has taken it, it may be put back, which is no vote: 2. 0: it is not there, -1: somebody
-- else's, -3: the lease is revoked, and mark_of says by whom.
CREATE OR REPLACE FUNCTION extend(p_key text, p_token text, p_ttl bigint, p_refill boolean, p_fence bigint, p_holder text, p_rename boolean)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  l lock;
  n timestamptz;
BEGIN
  IF p_refill THEN
    l := locked(p_key);
  ELSE
    SELECT * INTO l FROM lock WHERE key = p_key FOR UPDATE;
  END IF;
  n := clock_timestamp();
  IF l.token = p_token AND l.mark IS NOT NULL THEN
    RETURN -3;
  ELSIF l.token = p_token AND l.expires > n AND l.holder LIKE '%|done|' AND p_holder NOT LIKE '%|done|' THEN
    RETURN -1; -- it is kept for the rest of a minimum hold, which a renewal that comes late would shorten
  ELSIF l.token = p_token AND l.expires > n THEN
    PERFORM durable();
    UPDATE lock SET expires = after(n, p_ttl), holder = CASE WHEN p_rename THEN p_holder ELSE holder END WHERE key = p_key;
    RETURN 1;
  ELSIF l.token IS NOT NULL AND l.expires > n OR l.read_until > n THEN
    RETURN -1;
  ELSIF NOT p_refill OR EXISTS (SELECT FROM tombstone t WHERE t.token = p_token AND t.expires > n) THEN
    RETURN 0;
  END IF;
  PERFORM durable();
  UPDATE lock SET token = p_token, counter = p_fence, fence = greatest(fence, p_fence), holder = p_holder, expires = after(n, p_ttl),
    mark = NULL WHERE key = p_key;
  RETURN 2;
END $$;

-- release deletes the lock where the token holds it: what is 1 then, 0 if it was not
-- there, 2 if it is somebody else's. It names the next waiter, if p_window is not 0, and
-- takes p_waiter into the queue again, if that is not empty.
CREATE OR REPLACE FUNCTION release(
  p_key text, p_token text, p_tombstone bigint, p_window bigint, p_waiter text, p_ticket bigint, p_record text,
  OUT what int, OUT named boolean
) LANGUAGE plpgsql AS $$
DECLARE
  l lock;
  n timestamptz;
BEGIN
  named := false;
  what := 0;
  IF p_tombstone > 0 THEN
    l := locked(p_key); -- else an acquire that is under way would not see the tombstone
    n := clock_timestamp();
    INSERT INTO tombstone AS t (token, expires) VALUES (p_token, after(n, p_tombstone))
      ON CONFLICT (token) DO UPDATE SET expires = greatest(t.expires, excluded.expires);
  ELSE
    -- A crash may bring the lock back: it ends with its TTL then.
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT * INTO l FROM lock WHERE key = p_key FOR UPDATE;
    n := clock_timestamp();
  END IF;
  IF p_waiter <> '' THEN
    PERFORM join_queue(p_key, p_waiter, p_ticket, p_record, n);
  END IF;
  IF p_window > 0 AND (l.next IS NULL OR l.next_until <= n) THEN
    l.next := name_next(p_key, n);
    l.next_until := after(n, p_window);
    named := l.next IS NOT NULL;
  END IF;
  IF l.token = p_token THEN
    what := CASE WHEN l.expires > n THEN 1 ELSE 0 END;
    UPDATE lock SET token = NULL, expires = NULL, holder = '', next = l.next, next_until = l.next_until WHERE key = p_key;
    RETURN;
  ELSIF l.token IS NOT NULL AND l.expires > n OR l.read_until > n THEN
    what := 2;
  END IF;
  IF named THEN
    UPDATE lock SET next = l.next, next_until = l.next_until WHERE key = p_key;
  END IF;
END $$;

-- leave takes a waiter that gave up out of the queue; if it had just been named, the
-- next one is named in its place.
CREATE OR REPLACE FUNCTION leave(p_key text, p_waiter text, p_window bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  l      lock;
  n      timestamptz;
  queued boolean;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT * INTO l FROM lock WHERE key = p_key FOR UPDATE;
  n := clock_timestamp();
  queued := out_of_queue(p_key, p_waiter);
  IF l.next IS DISTINCT FROM p_waiter THEN
    RETURN queued;
  END IF;
  l.next := NULL;
  IF (l.token IS NULL OR l.expires <= n) AND (l.read_until IS NULL OR l.read_until <= n) THEN
    l.next := name_next(p_key, n);
  END IF;
  UPDATE lock SET next = l.next, next_until = after(n, p_window) WHERE key = p_key;
  RETURN true;
END $$;

-- prune forgets locks that nobody has held for p_age, tombstones and waiters that have
-- run out. What it forgets of fences is kept for all: tokens go on from there. It returns
-- how many locks it has forgotten, at most p_most.
CREATE OR REPLACE FUNCTION prune(p_age interval, p_most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  n     timestamptz := clock_timestamp();
  keys  text[];
  most  bigint;
BEGIN
  DELETE FROM tombstone WHERE expires < n;
  DELETE FROM waiter WHERE seen < n - interval '2 minutes' AND (bar_until IS NULL OR bar_until < n);
  DELETE FROM semaphore WHERE expires < n - p_age;
  -- A fence is the time of its grant, unless clients asked for more than one a microsecond.
  SELECT array_agg(key), max(fence) INTO keys, most FROM (
    SELECT key, fence FROM lock
    WHERE (token IS NULL OR expires < n - p_age) AND (next IS NULL OR next_until < n)
      AND (read_until IS NULL OR read_until < n - p_age) AND fence < micros(n - p_age)
    LIMIT p_most FOR UPDATE SKIP LOCKED
  ) AS old;
  IF keys IS NULL THEN
    RETURN 0;
  END IF;
  PERFORM durable();
  UPDATE memory SET fence = greatest(fence, most);
  DELETE FROM lock WHERE key = ANY (keys);
  DELETE FROM reader WHERE key = ANY (keys);
  RETURN array_length(keys, 1);
END $$;

-- peek says who holds a lock, and writes nothing: the server refuses any write of a STABLE function.
--   p_memory, p_enforced   as for acquire
--   code                   0 held, 1 free, 5 nothing is said after a failover
--   forgot                 what is left of p_memory in ms after a failover, else 0
CREATE OR REPLACE FUNCTION peek(
  p_key text, p_memory bigint, p_enforced boolean,
  OUT code int, OUT fence bigint, OUT ttl bigint, OUT held_by text, OUT forgot bigint
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  l    lock;
  m    memory;
  n    timestamptz := clock_timestamp();
BEGIN
  code := 1; fence := 0; ttl := 0; held_by := ''; forgot := 0;
  IF pg_is_in_recovery() THEN
    RAISE read_only_sql_transaction USING MESSAGE = 'this server follows another one';
  END IF;
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
  SELECT * INTO l FROM lock WHERE key = p_key;
  IF l.token IS NOT NULL AND l.expires > n THEN
    code := 0; fence := l.counter; ttl := millis_left(l.expires, n); held_by := l.holder;
  ELSIF l.read_until > n THEN
    code := 0; ttl := millis_left(l.read_until, n);
  END IF;
END $$;
