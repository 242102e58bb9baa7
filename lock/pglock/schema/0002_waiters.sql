-- A waiter that was named, or left, keeps its row, in which seen says that it waits no longer. Were rows to come and go, they
-- would leave dead entries just where the order of the queue begins, and each look for the first would walk past all those
-- that vacuum has yet to remove. An update of what is in no index is cleaned up by the next ones.
DROP INDEX waiter_order;
DROP FUNCTION IF EXISTS name_next(text, bigint, timestamptz); -- of the first version: it is called otherwise now
