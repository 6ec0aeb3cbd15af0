#!lua
-- free_sold: gives back tickets that are no longer their order's: refunded, or found to belong to nobody.
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
--   2 limits       counters that every ticket of it was counted in, as a JSON list
--   3 changes_max  most entries kept in changes
--   4 standing     JSON list of its tickets without a seat that it keeps, the others go back; empty to leave them all
--   5 log_max      about how many entries quantities keeps
--   * seat,zone,attendee  a seat's number, its zone and its attendee's counter (empty for none), seats ascending
-- REPLIES
--   freed    the seats that are available again; a seat that is another order's is not among them
--   rebuild  (nothing): meta is missing, the show must be loaded
-- INVARIANT: only what is this very order's is given back, so a repeat gives back nothing.

local map, owners, holds, unsent, zones = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local bought, version, changes, meta = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local standing, quantities = KEYS[10], KEYS[11]
local order_no, changes_max, log_max = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[5])

local FIRST_SEAT = 6
if not (changes_max and log_max) or (#ARGV - FIRST_SEAT + 1) % 3 ~= 0 then
  return redis.error_reply('ERR free_sold: wrong arguments')
end
local limits = cjson.decode(ARGV[2])

local names, seat_zones, seat_attendees, reads = {}, {}, {}, {}
local previous = -1
for place = FIRST_SEAT, #ARGV, 3 do
  local seat = tonumber(ARGV[place])
  if not seat or seat <= previous or seat % 1 ~= 0 then
    return redis.error_reply('ERR free_sold: seats must be whole numbers in ascending order')
  end
  previous = seat
  names[#names + 1] = seat
  seat_zones[#seat_zones + 1] = ARGV[place + 1]
  seat_attendees[#seat_attendees + 1] = ARGV[place + 2]
  reads[#reads + 1] = 'GET'
  reads[#reads + 1] = 'u2'
  reads[#reads + 1] = '#' .. seat
end
if redis.call('EXISTS', meta) == 0 then return { 'rebuild', {} } end

local owned_by, states = {}, {}
if #names > 0 then
  owned_by = redis.call('HMGET', owners, unpack(names))
  states = redis.call('BITFIELD', map, unpack(reads))
end
local freed, writes, log, zone_gains, attendees = {}, {}, {}, {}, {}
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
    attendees[#attendees + 1] = seat_attendees[place]
  end
end

local function change_zone(zone, change)
  local after = redis.call('HINCRBY', zones, zone, change)
  redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', after - change,
    'change', change, 'after', after, 'order', order_no, 'why', 'free')
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
local without_seat = ARGV[4] ~= '' and redis.call('HGET', standing, order_no)
if without_seat then
  local stay, kept, given = {}, {}, 0
  for _, attendee in ipairs(cjson.decode(ARGV[4])) do stay[attendee] = (stay[attendee] or 0) + 1 end
  for _, attendee in ipairs(cjson.decode(without_seat)) do
    if (stay[attendee] or 0) > 0 then
      stay[attendee] = stay[attendee] - 1
      kept[#kept + 1] = attendee
    else
      given = given + 1
      attendees[#attendees + 1] = attendee
    end
  end
  if #kept == 0 then
    redis.call('HDEL', standing, order_no)
  elseif given > 0 then
    redis.call('HSET', standing, order_no, cjson.encode(kept))
  end
  if #kept == 0 or given > 0 then redis.call('HINCRBY', meta, 'standing_version', 1) end
end
-- Counters of the order fall by every ticket that was given back, an attendee's by the attendee's own.
local function lower(field, by)
  if field ~= '' and redis.call('HINCRBY', bought, field, -by) <= 0 then redis.call('HDEL', bought, field) end
end
if #attendees > 0 then
  for _, field in ipairs(limits) do lower(field, #attendees) end
  for _, field in ipairs(attendees) do lower(field, 1) end
end
redis.call('HDEL', holds, order_no)
redis.call('ZREM', unsent, order_no)
return { 'freed', freed }
