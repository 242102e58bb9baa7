-- Readers have a row each. A row that is not used any more is used again by the next reader of the key, so
-- that readers who come and go leave no dead entries in the index. Whoever writes here has the row of the
-- lock locked.
CREATE TABLE reader (
  key     text   NOT NULL,
  place   int    NOT NULL,
  token   text,                      -- null: free
  counter bigint NOT NULL,           -- fence of the grant
  holder  text   NOT NULL,
  expires timestamptz NOT NULL,
  PRIMARY KEY (key, place)
) WITH (fillfactor = 50);

-- When the last reader expires: an exclusive acquire need not look at the readers.
ALTER TABLE lock ADD COLUMN read_until timestamptz;

-- A writer that waits bars readers with a later ticket than bar_ticket.
ALTER TABLE waiter ADD COLUMN bar_ticket bigint, ADD COLUMN bar_until timestamptz;

-- How many slots a semaphore has.
CREATE TABLE semaphore (
  key     text PRIMARY KEY,
  slots   int  NOT NULL,
  expires timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE OR REPLACE VIEW held AS
  SELECT key, counter AS fence, holder, expires FROM lock WHERE token IS NOT NULL AND expires > clock_timestamp()
  UNION ALL
  SELECT key, counter, holder, expires FROM reader WHERE token IS NOT NULL AND expires > clock_timestamp();
