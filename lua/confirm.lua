#!lua
-- confirm: turns an order's seats from locked to sold, and ends its hold, after its payment was committed in the database.
--
-- KEYS
--   1 map      two bits a seat
--   2 owners   hash seat -> order number
--   3 holds    hash order number -> record
--   4 unsent   sorted set of order numbers by created_ms
--   5 zones    hash zone -> remaining places
--   6 version  counter of seat changes in this epoch
--   7 changes  list of packed seat changes, oldest first
--   8 meta     hash of the show
--   9 quantities  stream of changes of the zones' remaining places
-- ARGV
--   1 order_no     number of the order, 19 digits
--   2 changes_max  most entries kept in changes
--   3 log_max      about how many entries quantities keeps
--   * seat,zone    a claimed seat's number and its zone, seats ascending; none when no ticket has a seat
-- REPLIES
--   confirmed  how many seats became sold by this call
--   conflict   the seats that are another order's or withheld; nothing has changed
--   rebuild    (nothing): meta is missing, the show must be loaded
-- INVARIANT: a seat that belongs to another order is never taken. A free seat is: the claim in the database is the
-- truth, and a lock that was lost must not keep a paid order from its seat.

local map, owners, holds, unsent, zones = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local version, changes, meta, quantities = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local order_no, changes_max, log_max = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local FIRST_SEAT = 4
if not (changes_max and log_max) or (#ARGV - FIRST_SEAT + 1) % 2 ~= 0 then
  return redis.error_reply('ERR confirm: wrong arguments')
end

local seats, seat_zones, reads = {}, {}, {}
local previous = -1
for place = FIRST_SEAT, #ARGV, 2 do
  local seat = tonumber(ARGV[place])
  if not seat or seat <= previous or seat % 1 ~= 0 then
    return redis.error_reply('ERR confirm: seats must be whole numbers in ascending order')
  end
  previous = seat
  seats[#seats + 1] = seat
  seat_zones[#seat_zones + 1] = ARGV[place + 1]
  reads[#reads + 1] = 'GET'
  reads[#reads + 1] = 'u2'
  reads[#reads + 1] = '#' .. seat
end

local seats_of_show = redis.call('HGET', meta, 'seats')
if not seats_of_show then return { 'rebuild', {} } end

local owned_by, states = {}, {}
if #seats > 0 then
  owned_by = redis.call('HMGET', owners, unpack(seats))
  states = redis.call('BITFIELD', map, unpack(reads))
end
local conflicts, writes, taken, log, zone_losses = {}, {}, {}, {}, {}
for place, seat in ipairs(seats) do
  local owner, state = owned_by[place], states[place]
  local is_own = owner == order_no and (state == 1 or state == 2)
  local is_lost = not owner and state == 0 and seat < tonumber(seats_of_show)
  if not is_own and not is_lost then conflicts[#conflicts + 1] = seat end
  if state ~= 2 then
    writes[#writes + 1] = 'SET'
    writes[#writes + 1] = 'u2'
    writes[#writes + 1] = '#' .. seat
    writes[#writes + 1] = 2
    log[#log + 1] = struct.pack('>I4', seat * 4 + 2)
  end
  if is_lost then
    local zone = seat_zones[place]
    taken[#taken + 1] = seat
    taken[#taken + 1] = order_no
    zone_losses[zone] = (zone_losses[zone] or 0) + 1
  end
end
if #conflicts > 0 then return { 'conflict', conflicts } end

local function change_zone(zone, change)
  local after = redis.call('HINCRBY', zones, zone, change)
  redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', after - change,
    'change', change, 'after', after, 'order', order_no, 'why', 'confirm')
end
if #log > 0 then
  redis.call('BITFIELD', map, unpack(writes))
  if #taken > 0 then redis.call('HSET', owners, unpack(taken)) end
  for zone, loss in pairs(zone_losses) do change_zone(zone, -loss) end
  redis.call('INCRBY', version, #log)
  if redis.call('RPUSH', changes, unpack(log)) > changes_max then
    redis.call('LTRIM', changes, -changes_max, -1)
  end
end
redis.call('HDEL', holds, order_no)
redis.call('ZREM', unsent, order_no)
return { 'confirmed', { #log } }
