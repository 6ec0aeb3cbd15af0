#!lua
-- free_sold: gives back seats of an order that is no longer live: refunded, or found to belong to nobody.
--
-- KEYS
--   1 map      two bits a seat
--   2 owners   hash seat -> order number
--   3 holds    hash order number -> record
--   4 unsent   sorted set of order numbers by created_ms
--   5 zones    hash zone -> remaining places
--   6 bought   hash "<kind>:<value>" -> tickets
--   7 version  counter of seat changes in this epoch
--   8 changes  list of packed seat changes, oldest first
--   9 meta     hash of the show
-- ARGV
--   1 order_no     number of the order, 19 digits
--   2 limits       counters that its tickets were counted in, as a JSON list
--   3 changes_max  most entries kept in changes
--   * seat,zone    a seat's number and its zone, seats ascending
-- REPLIES
--   freed    the seats that are available again; a seat that is another order's is not among them
--   rebuild  (nothing): meta is missing, the show must be loaded
-- INVARIANT: only seats whose owner is this very order are freed, so a repeat frees nothing.

local map, owners, holds, unsent, zones = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local bought, version, changes, meta = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local order_no, changes_max = ARGV[1], tonumber(ARGV[3])

local FIRST_SEAT = 4
if not changes_max or #ARGV < FIRST_SEAT + 1 or #ARGV % 2 == 0 then
  return redis.error_reply('ERR free_sold: wrong arguments')
end
local limits = cjson.decode(ARGV[2])

local names, seat_zones, reads = {}, {}, {}
local previous = -1
for place = FIRST_SEAT, #ARGV, 2 do
  local seat = tonumber(ARGV[place])
  if not seat or seat <= previous or seat % 1 ~= 0 then
    return redis.error_reply('ERR free_sold: seats must be whole numbers in ascending order')
  end
  previous = seat
  names[#names + 1] = seat
  seat_zones[#seat_zones + 1] = ARGV[place + 1]
  reads[#reads + 1] = 'GET'
  reads[#reads + 1] = 'u2'
  reads[#reads + 1] = '#' .. seat
end
if redis.call('EXISTS', meta) == 0 then return { 'rebuild', {} } end

local owned_by = redis.call('HMGET', owners, unpack(names))
local states = redis.call('BITFIELD', map, unpack(reads))
local freed, writes, log, zone_gains = {}, {}, {}, {}
for place, seat in ipairs(names) do
  if owned_by[place] == order_no and (states[place] == 1 or states[place] == 2) then
    freed[#freed + 1] = seat
    writes[#writes + 1] = 'SET'
    writes[#writes + 1] = 'u2'
    writes[#writes + 1] = '#' .. seat
    writes[#writes + 1] = 0
    log[#log + 1] = struct.pack('>I4', seat * 4)
    local zone = seat_zones[place]
    zone_gains[zone] = (zone_gains[zone] or 0) + 1
  end
end

if #freed > 0 then
  redis.call('BITFIELD', map, unpack(writes))
  redis.call('HDEL', owners, unpack(freed))
  for zone, gain in pairs(zone_gains) do redis.call('HINCRBY', zones, zone, gain) end
  for _, field in ipairs(limits) do
    if redis.call('HINCRBY', bought, field, -#freed) <= 0 then redis.call('HDEL', bought, field) end
  end
  redis.call('INCRBY', version, #freed)
  if redis.call('RPUSH', changes, unpack(log)) > changes_max then
    redis.call('LTRIM', changes, -changes_max, -1)
  end
end
redis.call('HDEL', holds, order_no)
redis.call('ZREM', unsent, order_no)
return { 'freed', freed }
