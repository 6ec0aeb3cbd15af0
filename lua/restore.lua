#!lua
-- restore: locks and counts again what Redis has lost of a pending order, or counts standing tickets of a paid one.
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
--   9 standing  hash order number -> JSON list of its tickets without a seat: each its attendee's counter, or empty
--   10 quantities  stream of changes of the zones' remaining places
-- ARGV
--   1 order_no     number of the order, 19 digits
--   2 record       what the order holds, as JSON: seats with zones and attendees, standing, limits
--   3 changes_max  most entries kept in changes
--   4 log_max      about how many entries quantities keeps
-- REPLIES
--   restored  how many tickets were locked or counted by this call
--   conflict  the seats that are another order's, sold or withheld; nothing has changed
--   rebuild   (nothing): meta is missing, the show must be loaded
-- INVARIANT: a seat that belongs to another order is never taken, and counters rise only by what was missing.

local map, owners, holds, zones, bought = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local version, changes, meta, standing, quantities = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local order_no, json, changes_max, log_max = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

if #ARGV ~= 4 or not (changes_max and log_max) then return redis.error_reply('ERR restore: wrong arguments') end
local record = cjson.decode(json)
if #record.seats + #record.standing == 0 then return redis.error_reply('ERR restore: no tickets') end

local seats_of_show = redis.call('HGET', meta, 'seats')
if not seats_of_show then return { 'rebuild', {} } end

local names, reads = {}, {}
for place, pair in ipairs(record.seats) do
  names[place] = pair[1]
  reads[#reads + 1] = 'GET'
  reads[#reads + 1] = 'u2'
  reads[#reads + 1] = '#' .. pair[1]
end
local owned_by, states = {}, {}
if #names > 0 then
  owned_by = redis.call('HMGET', owners, unpack(names))
  states = redis.call('BITFIELD', map, unpack(reads))
end

local conflicts, writes, taken, log, zone_losses, attendees = {}, {}, {}, {}, {}, {}
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
    attendees[#attendees + 1] = pair[3]
  end
end
if #conflicts > 0 then return { 'conflict', conflicts } end

local function change_zone(zone, change)
  local after = redis.call('HINCRBY', zones, zone, change)
  redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', after - change,
    'change', change, 'after', after, 'order', order_no, 'why', 'restore')
end
if #log > 0 then
  redis.call('BITFIELD', map, unpack(writes))
  redis.call('HSET', owners, unpack(taken))
  for zone, loss in pairs(zone_losses) do change_zone(zone, -loss) end
  redis.call('INCRBY', version, #log)
  if redis.call('RPUSH', changes, unpack(log)) > changes_max then
    redis.call('LTRIM', changes, -changes_max, -1)
  end
end
if #record.standing > 0 and redis.call('HSETNX', standing, order_no, cjson.encode(record.standing)) == 1 then
  for _, attendee in ipairs(record.standing) do attendees[#attendees + 1] = attendee end
  redis.call('HINCRBY', meta, 'standing_version', 1)
end
if #attendees > 0 then
  for _, field in ipairs(record.limits) do redis.call('HINCRBY', bought, field, #attendees) end
  for _, field in ipairs(attendees) do
    if field ~= '' then redis.call('HINCRBY', bought, field, 1) end
  end
end
redis.call('HSETNX', holds, order_no, json)
return { 'restored', { #attendees } }
