#!lua
-- hold: locks seats of one show for one order, and counts its tickets, all or nothing.
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
--   12 idem    "<order number>|<fingerprint>" that this idempotency key led to
--   13 guard   "<order number>|<fingerprint>" of the user's last submission
-- ARGV
--   1 order_no     number of the new order, 19 digits
--   2 level        the buyer's level
--   3 now_ms       milliseconds since 1970 UTC
--   4 fingerprint  names what is being bought, without "|" in front of it
--   5 record       JSON that `release` reads back, as HoldRecord writes it
--   6 idem_ms      lifetime of idem, milliseconds
--   7 guard_ms     lifetime of guard, milliseconds
--   8 changes_max  most entries kept in changes
--   9 seats        how many seats follow
--   10 standing    how many tickets without a seat follow; their places were taken before, elsewhere
--   11 log_max     about how many entries quantities keeps
--   * seat,zone,attendee  a seat's number, its zone and its attendee's counter (empty for none), seats ascending
--   * attendee     the attendee's counter of a ticket without a seat; empty for none
--   * limit        "<kind>:<value>" to count every ticket of the order by
-- REPLIES
--   held         version after the hold
--   repeated     number of the order that this submission already led to
--   key_used     number of the order that this idempotency key led to, for another choice
--   not_on_sale  (nothing)
--   not_started  start of the sale, milliseconds since 1970 UTC
--   ended        (nothing)
--   level        level that is required
--   limit        counter, most tickets, tickets held or bought already
--   unknown      first seat that the show does not have
--   taken        the seats that are not available
--   zone         first zone with too few places left
--   rebuild      (nothing): meta is missing, the show must be loaded
-- INVARIANT: a seat is locked for at most one order; every reply but `held` has changed nothing.

local map, owners, holds, unsent, zones = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local bought, version, changes, meta = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local standing, quantities, idem, guard = KEYS[10], KEYS[11], KEYS[12], KEYS[13]

local order_no, level, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local fingerprint, record = ARGV[4], ARGV[5]
local idem_ms, guard_ms, changes_max = ARGV[6], ARGV[7], tonumber(ARGV[8])
local count, standing_count, log_max = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])

local FIRST_SEAT = 12
if not (level and now and changes_max and count and standing_count and log_max) or count < 0 or standing_count < 0
  or count + standing_count < 1 or #ARGV < FIRST_SEAT - 1 + 3 * count + standing_count then
  return redis.error_reply('ERR hold: wrong arguments')
end
local first_standing = FIRST_SEAT + 3 * count
local first_limit = first_standing + standing_count
local tickets = count + standing_count

local show = redis.call('HMGET', meta, 'status', 'sale_start', 'sale_end', 'limit', 'level', 'seats')
for place = 1, 6 do
  if not show[place] then return { 'rebuild', {} } end
end

-- The order of an earlier submission, and whether it asked for the same. What an older version wrote names no choice.
local function submitted(value)
  local bar = string.find(value, '|', 1, true)
  if not bar then return value, true end
  return string.sub(value, 1, bar - 1), string.sub(value, bar + 1) == fingerprint
end

local earlier = redis.call('GET', idem)
if earlier then
  local earlier_order, is_same = submitted(earlier)
  if is_same then return { 'repeated', { earlier_order } } end
  return { 'key_used', { earlier_order } }
end

local guarded = redis.call('GET', guard)
if guarded then
  local guarded_order, is_same = submitted(guarded)
  if is_same and redis.call('HEXISTS', holds, guarded_order) == 1 then
    return { 'repeated', { guarded_order } }
  end
end
if redis.call('HEXISTS', holds, order_no) == 1 then return { 'repeated', { order_no } } end

-- A show marked as sold out (2) may have had seats given back since: its seats decide.
if show[1] ~= '1' and show[1] ~= '2' then return { 'not_on_sale', {} } end
if now < tonumber(show[2]) then return { 'not_started', { show[2] } } end
if now >= tonumber(show[3]) then return { 'ended', {} } end
if level < tonumber(show[5]) then return { 'level', { show[5] } } end

-- What each counter would rise by: those of the order by every ticket, an attendee's by the attendee's own.
local fields, rises = {}, {}
local function count_ticket(field, by)
  if field == '' then return end
  if not rises[field] then
    rises[field] = 0
    fields[#fields + 1] = field
  end
  rises[field] = rises[field] + by
end
for place = first_limit, #ARGV do count_ticket(ARGV[place], tickets) end
for place = 1, count do count_ticket(ARGV[FIRST_SEAT - 1 + 3 * place], 1) end
local standing_attendees = {}
for place = first_standing, first_limit - 1 do
  count_ticket(ARGV[place], 1)
  standing_attendees[#standing_attendees + 1] = ARGV[place]
end
local had = {}
if #fields > 0 then had = redis.call('HMGET', bought, unpack(fields)) end
local counters = {}
for place, field in ipairs(fields) do
  local have = tonumber(had[place] or 0)
  if have + rises[field] > tonumber(show[4]) then return { 'limit', { field, show[4], have } } end
  counters[#counters + 1] = field
  counters[#counters + 1] = have + rises[field]
end

local seats_of_show = tonumber(show[6])
local seats, wanted, zone_names = {}, {}, {}
local previous = -1
for place = 1, count do
  local seat, zone = tonumber(ARGV[FIRST_SEAT - 3 + 3 * place]), ARGV[FIRST_SEAT - 2 + 3 * place]
  if not seat or seat <= previous or seat % 1 ~= 0 then
    return redis.error_reply('ERR hold: seats must be whole numbers in ascending order')
  end
  if seat >= seats_of_show then return { 'unknown', { seat } } end
  previous = seat
  seats[place] = seat
  if not wanted[zone] then
    wanted[zone] = 0
    zone_names[#zone_names + 1] = zone
  end
  wanted[zone] = wanted[zone] + 1
end

local reads = {}
for _, seat in ipairs(seats) do
  reads[#reads + 1] = 'GET'
  reads[#reads + 1] = 'u2'
  reads[#reads + 1] = '#' .. seat
end
local states = {}
if count > 0 then states = redis.call('BITFIELD', map, unpack(reads)) end
local taken = {}
for place, state in ipairs(states) do
  if state ~= 0 then taken[#taken + 1] = seats[place] end
end
if #taken > 0 then return { 'taken', taken } end

local remaining = {}
if count > 0 then remaining = redis.call('HMGET', zones, unpack(zone_names)) end
local zone_counts = {}
for place, zone in ipairs(zone_names) do
  local left = tonumber(remaining[place] or 0)
  if left < wanted[zone] then return { 'zone', { zone } } end
  zone_counts[#zone_counts + 1] = zone
  zone_counts[#zone_counts + 1] = left - wanted[zone]
end

-- Everything is checked; from here on nothing can refuse.
local writes, owned, log = {}, {}, {}
for _, seat in ipairs(seats) do
  writes[#writes + 1] = 'SET'
  writes[#writes + 1] = 'u2'
  writes[#writes + 1] = '#' .. seat
  writes[#writes + 1] = 1
  owned[#owned + 1] = seat
  owned[#owned + 1] = order_no
  log[#log + 1] = struct.pack('>I4', seat * 4 + 1)
end
local at = redis.call('GET', version) or 0
if count > 0 then
  redis.call('BITFIELD', map, unpack(writes))
  redis.call('HSET', owners, unpack(owned))
  redis.call('HSET', zones, unpack(zone_counts))
  for place, zone in ipairs(zone_names) do
    local before = tonumber(remaining[place])
    redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', before,
      'change', -wanted[zone], 'after', before - wanted[zone], 'order', order_no, 'why', 'hold')
  end
  at = redis.call('INCRBY', version, count)
  if redis.call('RPUSH', changes, unpack(log)) > changes_max then
    redis.call('LTRIM', changes, -changes_max, -1)
  end
end
if standing_count > 0 then
  redis.call('HSET', standing, order_no, cjson.encode(standing_attendees))
  redis.call('HINCRBY', meta, 'standing_version', 1)
end
if #counters > 0 then redis.call('HSET', bought, unpack(counters)) end
redis.call('HSET', holds, order_no, record)
redis.call('ZADD', unsent, ARGV[3], order_no)
redis.call('SET', idem, order_no .. '|' .. fingerprint, 'PX', idem_ms)
redis.call('SET', guard, order_no .. '|' .. fingerprint, 'PX', guard_ms)
return { 'held', { at } }
