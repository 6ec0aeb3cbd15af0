#!lua
-- release: gives back what an order holds, exactly as its record says, and deletes the record in the same step.
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
--   2 changes_max  most entries kept in changes
-- REPLIES
--   released  the seats that are available again; a seat that is sold or another order's is not among them
--   nothing   (nothing): the order has no record, so it was released or confirmed before
--   rebuild   (nothing): meta is missing, the show must be loaded
-- INVARIANT: what an order held is given back at most once, and only while the seat is locked for that very order.

local map, owners, holds, unsent, zones = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local bought, version, changes, meta = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local order_no, changes_max = ARGV[1], tonumber(ARGV[2])

if #ARGV ~= 2 or not changes_max then return redis.error_reply('ERR release: wrong arguments') end
if redis.call('EXISTS', meta) == 0 then return { 'rebuild', {} } end
local json = redis.call('HGET', holds, order_no)
if not json then return { 'nothing', {} } end
local record = cjson.decode(json)

local names, reads = {}, {}
for place, pair in ipairs(record.seats) do
  names[place] = pair[1]
  reads[#reads + 1] = 'GET'
  reads[#reads + 1] = 'u2'
  reads[#reads + 1] = '#' .. pair[1]
end
local held_by, states = {}, {}
if #names > 0 then
  held_by = redis.call('HMGET', owners, unpack(names))
  states = redis.call('BITFIELD', map, unpack(reads))
end

local freed, writes, log, zone_gains = {}, {}, {}, {}
for place, pair in ipairs(record.seats) do
  local seat, zone = pair[1], pair[2]
  if held_by[place] == order_no and states[place] == 1 then
    freed[#freed + 1] = seat
    writes[#writes + 1] = 'SET'
    writes[#writes + 1] = 'u2'
    writes[#writes + 1] = '#' .. seat
    writes[#writes + 1] = 0
    log[#log + 1] = struct.pack('>I4', seat * 4)
    zone_gains[zone] = (zone_gains[zone] or 0) + 1
  end
end

if #freed > 0 then
  redis.call('BITFIELD', map, unpack(writes))
  redis.call('HDEL', owners, unpack(freed))
  for zone, gain in pairs(zone_gains) do redis.call('HINCRBY', zones, zone, gain) end
  for _, field in ipairs(record.limits) do
    if redis.call('HINCRBY', bought, field, -#freed) <= 0 then redis.call('HDEL', bought, field) end
  end
  redis.call('INCRBY', version, #freed)
  if redis.call('RPUSH', changes, unpack(log)) > changes_max then
    redis.call('LTRIM', changes, -changes_max, -1)
  end
end
redis.call('HDEL', holds, order_no)
redis.call('ZREM', unsent, order_no)
return { 'released', freed }
