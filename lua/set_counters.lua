#!lua
-- set_counters: writes a show's counters anew, as they were counted from its seats and orders.
--
-- KEYS
--   1 zones    hash zone -> remaining places
--   2 bought   hash "<kind>:<value>" -> tickets
--   3 version  counter of seat changes in this epoch
--   4 meta     hash of the show
-- ARGV
--   1 epoch    epoch in which they were counted
--   2 version  version at which they were counted
--   3 zones    remaining places by zone, as a JSON object
--   4 bought   tickets by counter, as a JSON object
-- REPLIES
--   set      (nothing): the counters are as counted
--   moved    (nothing): a seat has changed since, so the count is void; nothing has changed
--   rebuild  (nothing): meta is missing, the show must be loaded
-- INVARIANT: a count is written only while no seat has changed since it was made.

local zones, bought, version, meta = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if #ARGV ~= 4 then return redis.error_reply('ERR set_counters: wrong arguments') end
local new_zones, new_bought = cjson.decode(ARGV[3]), cjson.decode(ARGV[4])

local epoch = redis.call('HGET', meta, 'epoch')
if not epoch then return { 'rebuild', {} } end
if epoch ~= ARGV[1] or (redis.call('GET', version) or '0') ~= ARGV[2] then return { 'moved', {} } end

redis.call('DEL', bought)
for zone, count in pairs(new_zones) do redis.call('HSET', zones, zone, count) end
for field, count in pairs(new_bought) do redis.call('HSET', bought, field, count) end
return { 'set', {} }
