#!lua
-- load: writes a show's keys from the database, in a new epoch.
--
-- KEYS
--   1 map      two bits a seat
--   2 owners   hash seat -> order number
--   3 holds    hash order number -> record
--   4 unsent   sorted set of order numbers by created_ms; emptied, because what was loaded has reached the database
--   5 zones    hash zone -> remaining places
--   6 bought   hash "<kind>:<value>" -> tickets
--   7 version  counter of seat changes in this epoch
--   8 changes  list of packed seat changes, oldest first
--   9 meta     hash of the show
--   10 standing  hash order number -> JSON list of its tickets without a seat: each its attendee's counter, or empty
--   11 quantities  stream of changes of the zones' remaining places; it stays, and says what was loaded over what
-- ARGV
--   1 replaces    epoch that may be overwritten; empty when only a missing show may be loaded
--   2 epoch       the new life of the keys, 32 bits
--   3 status      the show's state, 0-3
--   4 sale_start  milliseconds since 1970 UTC
--   5 sale_end    milliseconds since 1970 UTC
--   6 limit       most tickets of one buyer
--   7 level       level a buyer needs
--   8 seats       how many seats the show has
--   9 map         the whole map, binary
--   10 owners     JSON list: seat, order number, seat, order number, ...
--   11 zones      JSON list: zone, remaining, ...
--   12 bought     JSON list: field, tickets, ...
--   13 holds      JSON list: order number, record, ...
--   14 standing   JSON list: order number, JSON list of attendees' counters, ...
--   15 log_max    about how many entries quantities keeps
-- REPLIES
--   loaded   the new epoch
--   present  the epoch that was there and stays
-- INVARIANT: a show that is in use is never overwritten unless the caller names the epoch it has seen.

-- Lua's unpack fails beyond about 8,000 values.
local CHUNK = 4000

local function write_hash(key, json)
  local list = cjson.decode(json)
  for first = 1, #list, CHUNK do
    redis.call('HSET', key, unpack(list, first, math.min(first + CHUNK - 1, #list)))
  end
end

local zones, meta, quantities, log_max = KEYS[5], KEYS[9], KEYS[11], tonumber(ARGV[15])
if #ARGV ~= 15 or not tonumber(ARGV[2]) or not log_max then return redis.error_reply('ERR load: wrong arguments') end
for place = 10, 14 do
  local is_json, list = pcall(cjson.decode, ARGV[place])
  if not is_json or type(list) ~= 'table' or #list % 2 ~= 0 then
    return redis.error_reply('ERR load: a list is no JSON list of pairs')
  end
end

local epoch = redis.call('HGET', meta, 'epoch')
if epoch and epoch ~= ARGV[1] then return { 'present', { epoch } } end

-- A zone that Redis has forgotten begins a new chain: nobody knows here what it had left.
local left = cjson.decode(ARGV[11])
for place = 1, #left, 2 do
  local before, after = redis.call('HGET', zones, left[place]), tonumber(left[place + 1])
  local change = after - (before and tonumber(before) or 0)
  if not before or change ~= 0 then
    redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', left[place], 'before', before or '',
      'change', change, 'after', after, 'order', '', 'why', 'load')
  end
end

redis.call('DEL', unpack(KEYS, 1, 10))
redis.call('SET', KEYS[1], ARGV[9])
write_hash(KEYS[2], ARGV[10])
write_hash(KEYS[3], ARGV[13])
write_hash(KEYS[5], ARGV[11])
write_hash(KEYS[6], ARGV[12])
write_hash(KEYS[10], ARGV[14])
redis.call('SET', KEYS[7], 0)
redis.call('HSET', meta, 'epoch', ARGV[2], 'status', ARGV[3], 'sale_start', ARGV[4], 'sale_end', ARGV[5],
  'limit', ARGV[6], 'level', ARGV[7], 'seats', ARGV[8], 'standing_version', 0)
return { 'loaded', { ARGV[2] } }
