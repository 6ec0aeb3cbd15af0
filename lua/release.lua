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
--   10 standing  hash order number -> JSON list of its tickets without a seat: each its attendee's counter, or empty
--   11 quantities  stream of changes of the zones' remaining places
-- ARGV
--   1 order_no     number of the order, 19 digits
--   2 changes_max  most entries kept in changes
--   3 log_max      about how many entries quantities keeps
-- REPLIES
--   released  the seats that are available again; a seat that is sold or another order's is not among them
--   nothing   (nothing): the order has no record, so it was released or confirmed before
--   rebuild   (nothing): meta is missing, the show must be loaded
-- INVARIANT: what an order held is given back at most once, and a seat only while it is locked for that very order.

local map, owners, holds, unsent, zones = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local bought, version, changes, meta = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local standing, quantities = KEYS[10], KEYS[11]
local order_no, changes_max, log_max = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

if #ARGV ~= 3 or not (changes_max and log_max) then return redis.error_reply('ERR release: wrong arguments') end
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

local freed, writes, log, zone_gains, attendees = {}, {}, {}, {}, {}
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
    attendees[#attendees + 1] = pair[3] or ''
  end
end

local function change_zone(zone, change)
  local after = redis.call('HINCRBY', zones, zone, change)
  redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', after - change,
    'change', change, 'after', after, 'order', order_no, 'why', 'release')
end
if #freed > 0 then
  redis.call('BITFIELD', map, unpack(writes))
  redis.call('HDEL', owners, unpack(freed))
  for zone, gain in pairs(zone_gains) do change_zone(zone, gain) end
  redis.call('INCRBY', version, #freed)
  if redis.call('RPUSH', changes, unpack(log)) > changes_max then
    redis.call('LTRIM', changes, -changes_max, -1)
  end
end
local without_seat = redis.call('HGET', standing, order_no)
if without_seat then
  for _, attendee in ipairs(cjson.decode(without_seat)) do attendees[#attendees + 1] = attendee end
  redis.call('HDEL', standing, order_no)
  redis.call('HINCRBY', meta, 'standing_version', 1)
end
-- Counters of the order fall by every ticket that was given back, an attendee's by the attendee's own.
local function lower(field, by)
  if field ~= '' and redis.call('HINCRBY', bought, field, -by) <= 0 then redis.call('HDEL', bought, field) end
end
if #attendees > 0 then
  for _, field in ipairs(record.limits) do lower(field, #attendees) end
  for _, field in ipairs(attendees) do lower(field, 1) end
end
redis.call('HDEL', holds, order_no)
redis.call('ZREM', unsent, order_no)
return { 'released', freed }
