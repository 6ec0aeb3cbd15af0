#!lua
-- unload: takes the keys of a show that is over out of Redis, unless something in it is still open.
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
--   1 epoch  the epoch that the caller has seen; empty when it has seen no show
-- REPLIES
--   unloaded  how many keys there were
--   epoch     the epoch that the show has now, empty when it has none; it was lost, loaded or unloaded meanwhile
--   orders    how many orders hold something, how many are not acknowledged by Kafka
--   locked    how many seats are locked
--   unbooked  how many changes of places are not in the books yet
-- INVARIANT: what Redis alone knows is never taken away; every reply but `unloaded` has changed nothing.

local map, holds, unsent, meta, quantities = KEYS[1], KEYS[3], KEYS[4], KEYS[9], KEYS[11]

if #ARGV ~= 1 or #KEYS ~= 11 then return redis.error_reply('ERR unload: wrong arguments') end
local epoch = redis.call('HGET', meta, 'epoch') or ''
if epoch ~= ARGV[1] then return { 'epoch', { epoch } } end

local holding, waiting = redis.call('HLEN', holds), redis.call('ZCARD', unsent)
if holding > 0 or waiting > 0 then return { 'orders', { holding, waiting } } end

-- How many of a byte's four seats are locked, by the byte: counting seat by seat would take four times as long.
local locked_in = {}
for byte = 0, 255 do
  local count, rest = 0, byte
  for _ = 1, 4 do
    if rest % 4 == 1 then count = count + 1 end
    rest = math.floor(rest / 4)
  end
  locked_in[byte] = count
end
local bits, locked = redis.call('GET', map) or '', 0
for place = 1, #bits do locked = locked + locked_in[string.byte(bits, place)] end
if locked > 0 then return { 'locked', { locked } } end

local unbooked = redis.call('XLEN', quantities)
if unbooked > 0 then return { 'unbooked', { unbooked } } end

-- A thread of its own frees the memory: the owners of a large hall would hold Redis up.
return { 'unloaded', { redis.call('UNLINK', unpack(KEYS)) } }
