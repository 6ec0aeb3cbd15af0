#!lua
-- unload_standing: takes the keys of one piece of a standing zone out of Redis, unless something in it is still open.
--
-- KEYS
--   1 places      hash of epoch, total, locked and sold
--   2 taken       hash order number -> "<quantity>|locked or sold|<created_ms>"
--   3 quantities  stream of changes of what is left
-- ARGV
--   1 epoch  the epoch that the caller has seen; empty when it has seen no piece
-- REPLIES
--   unloaded  how many keys there were
--   epoch     the epoch that the piece has now, empty when it has none; it was lost, loaded or unloaded meanwhile
--   locked    how many places are locked
--   unbooked  how many changes of places are not in the books yet
-- INVARIANT: what Redis alone knows is never taken away; every reply but `unloaded` has changed nothing.

local places, quantities = KEYS[1], KEYS[3]

if #ARGV ~= 1 or #KEYS ~= 3 then return redis.error_reply('ERR unload_standing: wrong arguments') end
local counts = redis.call('HMGET', places, 'epoch', 'locked')
local epoch = counts[1] or ''
if epoch ~= ARGV[1] then return { 'epoch', { epoch } } end

local locked = tonumber(counts[2] or 0)
if locked ~= 0 then return { 'locked', { locked } } end

local unbooked = redis.call('XLEN', quantities)
if unbooked > 0 then return { 'unbooked', { unbooked } } end

-- A thread of its own frees the memory: a large zone has thousands of orders.
return { 'unloaded', { redis.call('UNLINK', unpack(KEYS)) } }
