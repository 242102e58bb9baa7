-- Semaphores. A slot is a lock; the number of slots is a row of table semaphore. An advisory lock of the
-- transaction orders who relies on the number before who changes it: unlike a lock of the row, it writes
-- nothing, and many can share it.

-- may_vote fails on a server that must not answer.
CREATE OR REPLACE FUNCTION may_vote() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF pg_is_in_recovery() THEN
    RAISE read_only_sql_transaction USING MESSAGE = 'this server follows another one';
  ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE feature_not_supported USING MESSAGE = 'default_transaction_isolation is ' || current_setting('transaction_isolation');
  END IF;
END $$;

-- number_lock is the advisory lock of a semaphore.
CREATE OR REPLACE FUNCTION number_lock(p_semaphore text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN hashtextextended(current_schema() || ' semaphore ' || p_semaphore, 0);
END $$;

-- known_slots is the number of slots, null if none is known, and how long it will be kept. Until the
-- transaction ends nobody changes it, or, if none is known, nobody else takes one.
CREATE OR REPLACE FUNCTION known_slots(p_semaphore text, OUT known int, OUT kept timestamptz) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM semaphore WHERE key = p_semaphore AND expires > clock_timestamp();
  IF FOUND THEN
    PERFORM pg_advisory_xact_lock_shared(number_lock(p_semaphore));
    SELECT slots, expires INTO known, kept FROM semaphore WHERE key = p_semaphore; -- also if it ran out since
  ELSE
    PERFORM pg_advisory_xact_lock(number_lock(p_semaphore));
    SELECT slots, expires INTO known, kept FROM semaphore WHERE key = p_semaphore AND expires > clock_timestamp();
  END IF;
END $$;

-- keep_slots remembers a number for p_keep ms. It writes only once half of that has passed.
CREATE OR REPLACE FUNCTION keep_slots(p_semaphore text, p_slots int, p_keep bigint, p_kept timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE n timestamptz := clock_timestamp();
BEGIN
  IF p_kept > after(n, p_keep / 2) THEN
    RETURN;
  END IF;
  PERFORM durable();
  INSERT INTO semaphore (key, slots, expires) VALUES (p_semaphore, p_slots, after(n, p_keep))
    ON CONFLICT (key) DO UPDATE SET slots = excluded.slots, expires = excluded.expires;
END $$;

-- may_learn says whether the server takes a number of slots: not while it grants nothing after a failover.
CREATE OR REPLACE FUNCTION may_learn(p_memory bigint, p_enforced boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE m memory;
BEGIN
  SELECT * INTO m FROM memory;
  RETURN NOT (p_enforced AND (m.timeline <> timeline() OR coalesce(clock_timestamp() < after(m.changed, p_memory), false)));
END $$;

-- acquire_slot is acquire for a slot of a semaphore with p_slots slots. code is 6 if the server knows another
-- number: known.
CREATE OR REPLACE FUNCTION acquire_slot(
  p_semaphore text, p_slots int, p_keep bigint,
  p_key text, p_token text, p_holder text, p_ttl bigint, p_floor bigint, p_run bigint,
  p_waiter text, p_ticket bigint, p_record text, p_fair bigint, p_memory bigint, p_enforced boolean,
  OUT code int, OUT fence bigint, OUT run bigint, OUT ttl bigint, OUT held_by text, OUT ticket bigint, OUT ahead bigint, OUT forgot bigint,
  OUT known int
) LANGUAGE plpgsql AS $$
DECLARE
  a record;
  k record;
BEGIN
  PERFORM may_vote();
  k := known_slots(p_semaphore);
  known := coalesce(k.known, p_slots);
  IF known <> p_slots THEN
    code := 6; fence := 0; run := 1; ttl := 0; held_by := ''; ticket := 0; ahead := 0; forgot := 0;
    RETURN;
  END IF;
  SELECT * INTO a FROM acquire(p_key, p_token, p_holder, p_ttl, p_floor, p_run, p_waiter, p_ticket, p_record, p_fair, p_memory, p_enforced);
  code := a.code; fence := a.fence; run := a.run; ttl := a.ttl; held_by := a.held_by; ticket := a.ticket; ahead := a.ahead;
  forgot := a.forgot;
  IF k.known IS NOT NULL OR may_learn(p_memory, p_enforced) THEN
    PERFORM keep_slots(p_semaphore, p_slots, p_keep, k.kept);
  END IF;
END $$;

-- extend_slot is extend for a slot. It replies -2 if the semaphore does not have that slot any more.
CREATE OR REPLACE FUNCTION extend_slot(
  p_semaphore text, p_slot int, p_slots int, p_keep bigint,
  p_key text, p_token text, p_ttl bigint, p_refill boolean, p_fence bigint, p_holder text, p_rename boolean,
  p_memory bigint, p_enforced boolean
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE k record;
BEGIN
  k := known_slots(p_semaphore);
  IF p_slot >= k.known THEN
    RETURN -2;
  END IF;
  IF k.known IS NOT NULL OR may_learn(p_memory, p_enforced) THEN
    PERFORM keep_slots(p_semaphore, coalesce(k.known, p_slots), p_keep, k.kept);
  END IF;
  RETURN extend(p_key, p_token, p_ttl, p_refill, p_fence, p_holder, p_rename);
END $$;

-- resize returns how many slots the server knew of, 0 if it knew none. If it knew p_from or none, it knows
-- p_to from now on, unless that is 0.
CREATE OR REPLACE FUNCTION resize(p_semaphore text, p_from int, p_to int, p_keep bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE known int;
BEGIN
  PERFORM may_vote();
  PERFORM pg_advisory_xact_lock(number_lock(p_semaphore));
  SELECT slots INTO known FROM semaphore WHERE key = p_semaphore AND expires > clock_timestamp();
  IF p_to <> 0 AND coalesce(known IN (p_from, p_to), true) THEN
    PERFORM durable();
    INSERT INTO semaphore (key, slots, expires) VALUES (p_semaphore, p_to, after(clock_timestamp(), p_keep))
      ON CONFLICT (key) DO UPDATE SET slots = excluded.slots, expires = excluded.expires;
  END IF;
  RETURN coalesce(known, 0);
END $$;
