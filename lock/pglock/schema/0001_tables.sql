-- One row for each lock that was ever asked for, until it is pruned. A token is a secret
-- of its holder's: nobody needs the right to read this table.
CREATE TABLE lock (
  key        text PRIMARY KEY,
  token      text,                       -- of the holder; null: free
  counter    bigint NOT NULL DEFAULT 0,  -- fence of the grant
  fence      bigint NOT NULL DEFAULT 0,  -- last fence of the run that the grant reserved; it never goes back
  holder     text   NOT NULL DEFAULT '',
  expires    timestamptz,
  next       text,                       -- waiter that the lock is kept for
  next_until timestamptz
) WITH (fillfactor = 50);

-- Tokens of attempts that were given up: an acquire of theirs may still arrive.
CREATE TABLE tombstone (
  token   text PRIMARY KEY,
  expires timestamptz NOT NULL
);

-- Who waits. It is lost when the server crashes, which costs waiters a look, and nobody
-- a lock.
CREATE UNLOGGED TABLE waiter (
  key    text   NOT NULL,
  waiter text   NOT NULL,
  ticket bigint NOT NULL,
  record text   NOT NULL DEFAULT '',
  seen   timestamptz NOT NULL,
  PRIMARY KEY (key, waiter)
) WITH (fillfactor = 50);
CREATE INDEX waiter_order ON waiter (key, ticket, waiter);

-- What outlives the rows of pruned locks, and the timeline on which locks were granted.
CREATE TABLE memory (
  one      boolean PRIMARY KEY DEFAULT true CHECK (one),
  fence    bigint  NOT NULL DEFAULT 0,
  timeline text    NOT NULL,
  changed  timestamptz  -- when another timeline was met; null: never
);
INSERT INTO memory (timeline) VALUES (substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8));

-- What anybody may see of the locks that are held.
CREATE VIEW held AS
  SELECT key, counter AS fence, holder, expires FROM lock WHERE token IS NOT NULL AND expires > clock_timestamp();

-- Who waits, first come first.
CREATE VIEW waiting AS
  SELECT key, waiter, ticket, record, seen FROM waiter WHERE seen > clock_timestamp() - interval '2 minutes' ORDER BY key, ticket, waiter;
