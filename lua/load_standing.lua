#!lua
-- load_standing: writes one piece of a standing zone from the database, in a new epoch.
--
-- KEYS
--   1 places      hash of epoch, total, locked and sold
--   2 taken       hash order number -> "<quantity>|locked or sold|<created_ms>"
--   3 quantities  stream of changes of what is left
-- ARGV
--   1 replaces  epoch that may be overwritten; empty when only a missing piece may be loaded
--   2 epoch     the new life of the keys, 32 bits
--   3 total     places of the piece
--   4 taken     JSON list: order number, entry, order number, entry, ...
--   5 zone      the zone, for the log
--   6 log_max   about how many entries quantities keeps
-- REPLIES
--   loaded   the new epoch
--   present  the epoch that was there and stays
-- INVARIANT: a piece that is in use is never overwritten unless the caller names the epoch it has seen.

-- Lua's unpack fails beyond about 8,000 values.
local CHUNK = 4000

local places, taken, quantities = KEYS[1], KEYS[2], KEYS[3]
local total, zone, log_max = tonumber(ARGV[3]), ARGV[5], tonumber(ARGV[6])
if #ARGV ~= 6 or not tonumber(ARGV[2]) or not (total and log_max) or total < 0 or total % 1 ~= 0 then
  return redis.error_reply('ERR load_standing: wrong arguments')
end
local is_json, list = pcall(cjson.decode, ARGV[4])
if not is_json or type(list) ~= 'table' or #list % 2 ~= 0 then
  return redis.error_reply('ERR load_standing: the list is no JSON list of pairs')
end
local counted = { locked = 0, sold = 0 }
for place = 2, #list, 2 do
  local quantity, state = string.match(list[place], '^(%d+)|(%a+)|%d+$')
  if not quantity or not counted[state] then
    return redis.error_reply('ERR load_standing: an entry that is none')
  end
  counted[state] = counted[state] + tonumber(quantity)
end

local epoch = redis.call('HGET', places, 'epoch')
if epoch and epoch ~= ARGV[1] then return { 'present', { epoch } } end

redis.call('DEL', places, taken)
for first = 1, #list, CHUNK do
  redis.call('HSET', taken, unpack(list, first, math.min(first + CHUNK - 1, #list)))
end
redis.call('HSET', places, 'epoch', ARGV[2], 'total', total, 'locked', counted.locked, 'sold', counted.sold)
-- Whatever was known of the piece before, its log begins anew.
local left = total - counted.locked - counted.sold
redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', '', 'change', left,
  'after', left, 'order', '', 'why', 'load')
return { 'loaded', { ARGV[2] } }
