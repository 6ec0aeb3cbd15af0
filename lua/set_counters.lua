#!lua
-- set_counters: writes a show's counters anew, as they were counted from its seats and orders.
--
-- KEYS
--   1 zones    hash zone -> remaining places
--   2 bought   hash "<kind>:<value>" -> tickets
--   3 version  counter of seat changes in this epoch
--   4 meta     hash of the show
--   5 quantities  stream of changes of the zones' remaining places
-- ARGV
--   1 epoch    epoch in which they were counted
--   2 version  version at which they were counted
--   3 standing_version  count of changes of tickets without a seat at which they were counted
--   4 zones    remaining places by zone, as a JSON object
--   5 bought   tickets by counter, as a JSON object
--   6 log_max  about how many entries quantities keeps
-- REPLIES
--   set      (nothing): the counters are as counted
--   moved    (nothing): a seat or ticket has changed since, so the count is void; nothing has changed
--   rebuild  (nothing): meta is missing, the show must be loaded
-- INVARIANT: a count is written only while no seat and no ticket has changed since it was made.

local zones, bought, version, meta, quantities = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local log_max = tonumber(ARGV[6])
if #ARGV ~= 6 or not log_max then return redis.error_reply('ERR set_counters: wrong arguments') end
local new_zones, new_bought = cjson.decode(ARGV[4]), cjson.decode(ARGV[5])

local now = redis.call('HMGET', meta, 'epoch', 'standing_version')
if not now[1] then return { 'rebuild', {} } end
if now[1] ~= ARGV[1] or (redis.call('GET', version) or '0') ~= ARGV[2] or (now[2] or '0') ~= ARGV[3] then
  return { 'moved', {} }
end

redis.call('DEL', bought)
for zone, count in pairs(new_zones) do
  local before = redis.call('HGET', zones, zone)
  local change = count - (before and tonumber(before) or 0)
  if not before or change ~= 0 then
    redis.call('HSET', zones, zone, count)
    redis.call('XADD', quantities, 'MAXLEN', '~', log_max, '*', 'zone', zone, 'before', before or '',
      'change', change, 'after', count, 'order', '', 'why', 'count')
  end
end
for field, count in pairs(new_bought) do redis.call('HSET', bought, field, count) end
return { 'set', {} }
