#!lua
-- cache_order: keeps an order's latest view for those who poll it.
--
-- KEYS
--   1 order  one digit, how far the order has come, then the view as JSON
-- ARGV
--   1 stage   how far the order has come in this view, 0-9
--   2 view    JSON
--   3 ttl_ms  lifetime, milliseconds
-- REPLIES
--   kept   (nothing)
--   older  (nothing): the view that is there is of a later stage and stays
-- INVARIANT: a slow reader of the database never puts an order back to an earlier stage.

if #ARGV ~= 3 or not string.match(ARGV[1], '^%d$') then
  return redis.error_reply('ERR cache_order: wrong arguments')
end
local there = redis.call('GETRANGE', KEYS[1], 0, 0)
if there ~= '' and there > ARGV[1] then return { 'older', {} } end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
return { 'kept', {} }
