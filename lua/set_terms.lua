#!lua
-- set_terms: writes on which terms a loaded show is sold; its seats, counters and epoch stay.
--
-- KEYS
--   1 meta  hash of the show
-- ARGV
--   1 status      the show's state, 0-3
--   2 sale_start  milliseconds since 1970 UTC
--   3 sale_end    milliseconds since 1970 UTC
--   4 limit       most tickets of one buyer
--   5 level       level a buyer needs
-- REPLIES
--   set      epoch of the show, which stays
--   rebuild  (nothing): meta is missing; loading the show brings its terms along
-- INVARIANT: no seat, counter or epoch changes, and a show that is not loaded stays so.

local meta = KEYS[1]
if #ARGV ~= 5 then return redis.error_reply('ERR set_terms: wrong arguments') end
for place = 1, 5 do
  if not tonumber(ARGV[place]) then return redis.error_reply('ERR set_terms: a term is no number') end
end

local epoch = redis.call('HGET', meta, 'epoch')
if not epoch then return { 'rebuild', {} } end
redis.call('HSET', meta, 'status', ARGV[1], 'sale_start', ARGV[2], 'sale_end', ARGV[3], 'limit', ARGV[4],
  'level', ARGV[5])
return { 'set', { epoch } }
