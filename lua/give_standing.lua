#!lua
-- give_standing: gives back places that an order has in one piece of a standing zone, down to what it keeps.
--
-- KEYS
--   1 places      hash of epoch, total, locked and sold
--   2 taken       hash order number -> "<quantity>|locked or sold|<created_ms>"
--   3 quantities  stream of changes of what is left
-- ARGV
--   1 order_no  number of the order, 19 digits
--   2 zone      the zone, for the log
--   3 keep      how many places the order keeps in this piece; 0 to give all back
--   4 why       the reason, for the log
--   5 log_max   about how many entries quantities keeps
-- REPLIES
--   given    how many were given back by this call, how many are left
--   nothing  (nothing): the order has no more than it keeps; nothing has changed
--   rebuild  (nothing): places is missing, the piece must be loaded
-- INVARIANT: only what the order has is given back, so a repeat gives back nothing.

local places, taken, quantities = KEYS[1], KEYS[2], KEYS[3]
local order_no, zone, keep, why, log_max = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])

if #ARGV ~= 5 or not (keep and log_max) or keep < 0 or keep % 1 ~= 0 then
  return redis.error_reply('ERR give_standing: wrong arguments')
end
local counts = redis.call('HMGET', places, 'epoch', 'total', 'locked', 'sold')
if not counts[1] then return { 'rebuild', {} } end

local entry = redis.call('HGET', taken, order_no)
if not entry then return { 'nothing', {} } end
local has, state, created = string.match(entry, '^(%d+)|(%a+)|(%d+)$')
local count = tonumber(has) - keep
if count <= 0 then return { 'nothing', {} } end
local left = tonumber(counts[2]) - tonumber(counts[3]) - tonumber(counts[4])

if keep == 0 then
  redis.call('HDEL', taken, order_no)
else
  redis.call('HSET', taken, order_no, string.format('%d|%s|%s', keep, state, created))
end
redis.call('HINCRBY', places, state, -count)
redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', left, 'change', count,
  'after', left + count, 'order', order_no, 'why', why)
return { 'given', { count, left + count } }
