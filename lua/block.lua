#!lua
-- block: withholds free seats from the sale, or offers withheld ones again.
--
-- KEYS
--   1 map         two bits a seat
--   2 zones       hash zone -> remaining places
--   3 version     counter of seat changes in this epoch
--   4 changes     list of packed seat changes, oldest first
--   5 meta        hash of the show
--   6 quantities  stream of changes of the remaining places
-- ARGV
--   1 state        what the seats become: 3 withheld, 0 available
--   2 changes_max  most entries kept in changes
--   3 log_max      about how many entries quantities keeps
--   * seat,zone    a seat's number and its zone, seats ascending
-- REPLIES
--   done     the seats that this call changed; the others were so before
--   taken    the seats that are locked or sold; nothing has changed
--   unknown  the last seat, which the show does not have; nothing has changed
--   rebuild  (nothing): meta is missing, the show must be loaded
-- INVARIANT: a seat that is locked or sold is never withheld, and never offered.

local map, zones, version, changes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local meta, quantities = KEYS[5], KEYS[6]
local new_state, changes_max, log_max = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

-- Three values a read and four a write, and unpack takes 4,000.
local SEATS_MAX = 1000
local FIRST_SEAT = 4
local seat_count = (#ARGV - FIRST_SEAT + 1) / 2
if (new_state ~= 0 and new_state ~= 3) or not (changes_max and log_max) or seat_count < 1 or seat_count % 1 ~= 0
  or seat_count > SEATS_MAX then
  return redis.error_reply('ERR block: wrong arguments')
end

local seats, seat_zones, reads = {}, {}, {}
local previous = -1
for place = FIRST_SEAT, #ARGV, 2 do
  local seat = tonumber(ARGV[place])
  if not seat or seat <= previous or seat % 1 ~= 0 then
    return redis.error_reply('ERR block: seats must be whole numbers in ascending order')
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
if previous >= tonumber(seats_of_show) then return { 'unknown', { previous } } end

local states = redis.call('BITFIELD', map, unpack(reads))
local taken, changed, writes, log, zone_changes = {}, {}, {}, {}, {}
for place, seat in ipairs(seats) do
  local state = states[place]
  if state == 1 or state == 2 then
    taken[#taken + 1] = seat
  elseif state ~= new_state then
    local zone = seat_zones[place]
    changed[#changed + 1] = seat
    writes[#writes + 1] = 'SET'
    writes[#writes + 1] = 'u2'
    writes[#writes + 1] = '#' .. seat
    writes[#writes + 1] = new_state
    log[#log + 1] = struct.pack('>I4', seat * 4 + new_state)
    zone_changes[zone] = (zone_changes[zone] or 0) + (new_state == 3 and -1 or 1)
  end
end
if #taken > 0 then return { 'taken', taken } end

if #changed > 0 then
  redis.call('BITFIELD', map, unpack(writes))
  for zone, change in pairs(zone_changes) do
    local after = redis.call('HINCRBY', zones, zone, change)
    redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', after - change,
      'change', change, 'after', after, 'order', '', 'why', new_state == 3 and 'block' or 'unblock')
  end
  redis.call('INCRBY', version, #changed)
  if redis.call('RPUSH', changes, unpack(log)) > changes_max then
    redis.call('LTRIM', changes, -changes_max, -1)
  end
end
return { 'done', changed }
