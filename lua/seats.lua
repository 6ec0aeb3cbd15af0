#!lua flags=no-writes
-- seats: answers a poll of a show's seat map with what changed since the reader's version, or with the whole map.
--
-- KEYS
--   1 map      two bits a seat
--   2 version  counter of seat changes in this epoch
--   3 changes  list of packed seat changes, oldest first
--   4 meta     hash of the show
-- ARGV
--   1 epoch  life of the keys that the reader knows; 0 when it knows none
--   2 since  the reader's version within that epoch
-- REPLIES
--   changes  version, epoch, packed changes (4 bytes each, big-endian, oldest first)
--   whole    version, epoch, number of seats, the map
--   rebuild  (nothing): meta is missing, the show must be loaded
-- INVARIANT: nothing is written; a reader of another epoch never gets changes.

local map, version, changes, meta = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local since = tonumber(ARGV[2])
if #ARGV ~= 2 or not since then return redis.error_reply('ERR seats: wrong arguments') end

local show = redis.call('HMGET', meta, 'epoch', 'seats')
if not show[1] or not show[2] then return { 'rebuild', {} } end
local at = redis.call('GET', version) or '0'

local behind = tonumber(at) - since
if ARGV[1] == show[1] and behind == 0 then return { 'changes', { at, show[1], '' } } end
if ARGV[1] == show[1] and behind > 0 and redis.call('LLEN', changes) >= behind then
  return { 'changes', { at, show[1], table.concat(redis.call('LRANGE', changes, -behind, -1)) } }
end
return { 'whole', { at, show[1], show[2], redis.call('GET', map) or '' } }
