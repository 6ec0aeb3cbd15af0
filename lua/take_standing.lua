#!lua
-- take_standing: takes places of one piece of a standing zone for an order, before the order is held.
--
-- KEYS
--   1 places      hash of epoch, total, locked and sold
--   2 taken       hash order number -> "<quantity>|locked or sold|<created_ms>"
--   3 quantities  stream of changes of what is left
-- ARGV
--   1 order_no  number of the order, 19 digits
--   2 zone      the zone, for the log
--   3 now_ms    milliseconds since 1970 UTC
--   4 quantity  how many places are wanted
--   5 least     how many are worth taking when there are fewer; the quantity itself for all or nothing
--   6 log_max   about how many entries quantities keeps
-- REPLIES
--   taken     how many were taken, how many are left
--   repeated  how many the order has in this piece already; nothing has changed
--   short     how many are left; nothing has changed
--   rebuild   (nothing): places is missing, the piece must be loaded
-- INVARIANT: locked and sold places are never more than total by this script, and an order takes from a piece once.

local places, taken, quantities = KEYS[1], KEYS[2], KEYS[3]
local order_no, zone, now = ARGV[1], ARGV[2], tonumber(ARGV[3])
local quantity, least, log_max = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

if #ARGV ~= 6 or not (now and quantity and least and log_max) or quantity < 1 or least < 1 or least > quantity
  or quantity % 1 ~= 0 then
  return redis.error_reply('ERR take_standing: wrong arguments')
end
local counts = redis.call('HMGET', places, 'epoch', 'total', 'locked', 'sold')
if not counts[1] then return { 'rebuild', {} } end

local entry = redis.call('HGET', taken, order_no)
if entry then return { 'repeated', { tonumber(string.match(entry, '^%d+')) } } end

local left = tonumber(counts[2]) - tonumber(counts[3]) - tonumber(counts[4])
if left < least then return { 'short', { math.max(left, 0) } } end
local count = math.min(left, quantity)

redis.call('HSET', taken, order_no, string.format('%d|locked|%s', count, ARGV[3]))
redis.call('HINCRBY', places, 'locked', count)
redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', left, 'change', -count,
  'after', left - count, 'order', order_no, 'why', 'hold')
return { 'taken', { count, left - count } }
