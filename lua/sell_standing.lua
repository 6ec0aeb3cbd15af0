#!lua
-- sell_standing: writes an order's places of one piece as the database has them: sold, or locked again after a loss.
--
-- KEYS
--   1 places      hash of epoch, total, locked and sold
--   2 taken       hash order number -> "<quantity>|locked or sold|<created_ms>"
--   3 quantities  stream of changes of what is left
-- ARGV
--   1 order_no  number of the order, 19 digits
--   2 zone      the zone, for the log
--   3 now_ms    milliseconds since 1970 UTC
--   4 quantity  how many places of this piece the database has given the order
--   5 state     sold for a paid order, locked for one that awaits payment
--   6 why       the reason, for the log
--   7 log_max   about how many entries quantities keeps
-- REPLIES
--   written  how many places are the order's that were not before (below zero when it had too many), how many are left
--   as_is    (nothing): the entry was like this already, or is sold and was to be locked; nothing has changed
--   rebuild  (nothing): places is missing, the piece must be loaded
-- INVARIANT: the database's stock keeps the capacity. What it has given to an order is the order's here, even when that
-- leaves the piece with less than nothing until what is too much has been given back.

local places, taken, quantities = KEYS[1], KEYS[2], KEYS[3]
local order_no, zone, now = ARGV[1], ARGV[2], tonumber(ARGV[3])
local quantity, state, why, log_max = tonumber(ARGV[4]), ARGV[5], ARGV[6], tonumber(ARGV[7])

if #ARGV ~= 7 or not (now and quantity and log_max) or quantity < 1 or quantity % 1 ~= 0
  or (state ~= 'sold' and state ~= 'locked') then
  return redis.error_reply('ERR sell_standing: wrong arguments')
end
local counts = redis.call('HMGET', places, 'epoch', 'total', 'locked', 'sold')
if not counts[1] then return { 'rebuild', {} } end

local had, was, created = 0, state, ARGV[3]
local entry = redis.call('HGET', taken, order_no)
if entry then
  had, was, created = string.match(entry, '^(%d+)|(%a+)|(%d+)$')
  had = tonumber(had)
end
local is_sold = was == 'sold' and state == 'locked'
if entry and (is_sold or (had == quantity and was == state)) then return { 'as_is', {} } end
local left = tonumber(counts[2]) - tonumber(counts[3]) - tonumber(counts[4])
local change = quantity - had

redis.call('HSET', taken, order_no, string.format('%d|%s|%s', quantity, state, created))
if had > 0 then redis.call('HINCRBY', places, was, -had) end
redis.call('HINCRBY', places, state, quantity)
if change ~= 0 then
  redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', left, 'change', -change,
    'after', left - change, 'order', order_no, 'why', why)
end
return { 'written', { change, left - change } }
