#!lua
-- set_standing_capacity: sets how many places one piece of a standing zone has, and counts what is taken anew.
--
-- KEYS
--   1 places      hash of epoch, total, locked and sold
--   2 taken       hash order number -> "<quantity>|locked or sold|<created_ms>"
--   3 quantities  stream of changes of what is left
-- ARGV
--   1 zone     the zone, for the log
--   2 total    places of the piece
--   3 log_max  about how many entries quantities keeps
-- REPLIES
--   set      how many are locked, how many are sold
--   below    how many are locked, how many are sold: together more than total; nothing has changed
--   rebuild  (nothing): places is missing, the piece must be loaded
-- INVARIANT: a piece never gets fewer places than are locked and sold in it.

local places, taken, quantities = KEYS[1], KEYS[2], KEYS[3]
local zone, total, log_max = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

if #ARGV ~= 3 or not (total and log_max) or total < 0 or total % 1 ~= 0 then
  return redis.error_reply('ERR set_standing_capacity: wrong arguments')
end
local counts = redis.call('HMGET', places, 'epoch', 'total', 'locked', 'sold')
if not counts[1] then return { 'rebuild', {} } end

local counted = { locked = 0, sold = 0 }
for _, entry in ipairs(redis.call('HVALS', taken)) do
  local quantity, state = string.match(entry, '^(%d+)|(%a+)|%d+$')
  counted[state] = counted[state] + tonumber(quantity)
end
if counted.locked + counted.sold > total then return { 'below', { counted.locked, counted.sold } } end

local before = tonumber(counts[2]) - tonumber(counts[3]) - tonumber(counts[4])
local after = total - counted.locked - counted.sold
redis.call('HSET', places, 'total', total, 'locked', counted.locked, 'sold', counted.sold)
if after ~= before then
  redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', before,
    'change', after - before, 'after', after, 'order', '', 'why', 'capacity')
end
return { 'set', { counted.locked, counted.sold } }
