#!lua
-- restore: locks again the seats of a pending order that Redis has lost, as the database has them.
--
-- KEYS
--   1 map      two bits a seat
--   2 owners   hash seat -> order number
--   3 holds    hash order number -> record
--   4 zones    hash zone -> remaining places
--   5 bought   hash "<kind>:<value>" -> tickets
--   6 version  counter of seat changes in this epoch
--   7 changes  list of packed seat changes, oldest first
--   8 meta     hash of the show
-- ARGV
--   1 order_no     number of the order, 19 digits
--   2 record       what the order holds, as JSON: seats with zones, limits
--   3 changes_max  most entries kept in changes
-- REPLIES
--   restored  how many seats were locked by this call
--   conflict  the seats that are another order's, sold or withheld; nothing has changed
--   rebuild   (nothing): meta is missing, the show must be loaded
-- INVARIANT: a seat that belongs to another order is never taken, and counters rise only by what was missing.

local map, owners, holds, zones, bought = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local version, changes, meta = KEYS[6], KEYS[7], KEYS[8]
local order_no, json, changes_max = ARGV[1], ARGV[2], tonumber(ARGV[3])

if #ARGV ~= 3 or not changes_max then return redis.error_reply('ERR restore: wrong arguments') end
local record = cjson.decode(json)
if #record.seats == 0 then return redis.error_reply('ERR restore: no seats') end

local seats_of_show = redis.call('HGET', meta, 'seats')
if not seats_of_show then return { 'rebuild', {} } end

local names, reads = {}, {}
for place, pair in ipairs(record.seats) do
  names[place] = pair[1]
  reads[#reads + 1] = 'GET'
  reads[#reads + 1] = 'u2'
  reads[#reads + 1] = '#' .. pair[1]
end
local owned_by = redis.call('HMGET', owners, unpack(names))
local states = redis.call('BITFIELD', map, unpack(reads))

local conflicts, writes, taken, log, zone_losses = {}, {}, {}, {}, {}
for place, pair in ipairs(record.seats) do
  local seat, zone = pair[1], pair[2]
  local owner, state = owned_by[place], states[place]
  local is_held = owner == order_no and state == 1
  local is_lost = not owner and state == 0 and seat < tonumber(seats_of_show)
  if not is_held and not is_lost then conflicts[#conflicts + 1] = seat end
  if is_lost then
    writes[#writes + 1] = 'SET'
    writes[#writes + 1] = 'u2'
    writes[#writes + 1] = '#' .. seat
    writes[#writes + 1] = 1
    taken[#taken + 1] = seat
    taken[#taken + 1] = order_no
    log[#log + 1] = struct.pack('>I4', seat * 4 + 1)
    zone_losses[zone] = (zone_losses[zone] or 0) + 1
  end
end
if #conflicts > 0 then return { 'conflict', conflicts } end

if #log > 0 then
  redis.call('BITFIELD', map, unpack(writes))
  redis.call('HSET', owners, unpack(taken))
  for zone, loss in pairs(zone_losses) do redis.call('HINCRBY', zones, zone, -loss) end
  for _, field in ipairs(record.limits) do redis.call('HINCRBY', bought, field, #log) end
  redis.call('INCRBY', version, #log)
  if redis.call('RPUSH', changes, unpack(log)) > changes_max then
    redis.call('LTRIM', changes, -changes_max, -1)
  end
end
redis.call('HSETNX', holds, order_no, json)
return { 'restored', { #log } }
