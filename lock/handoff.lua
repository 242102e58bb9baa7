-- Shared head of the scripts that name the next waiter: it takes the head of the
-- queue, keeps the lock for it for a short window and tells it, by name, that it
-- is its turn. A waiter nobody listens for any more is passed over; in a Redis
-- Cluster PUBLISH counts only this shard's listeners, so there it is not asked.
local function name_next(lock, reservation, queue, window_ms, counts_listeners)
  for _ = 1, 64 do
    local head = redis.call('ZPOPMIN', queue)[1]
    if not head then
      return
    end
    local heard = redis.pcall('PUBLISH', 'lockscope:wake:' .. head, lock)
    if heard ~= 0 or counts_listeners ~= '1' then
      redis.call('SET', reservation, head, 'PX', window_ms)
      return head
    end
  end
end

