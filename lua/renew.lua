#!lua
-- renew: prolongs a lease that is still its holder's.
--
-- KEYS
--   1 lease  name of the holder
-- ARGV
--   1 holder  who asks
--   2 ttl_ms  lifetime from now, milliseconds
-- REPLIES
--   renewed  (nothing)
--   lost     (nothing): the lease has run out or is another's
-- INVARIANT: nobody prolongs a lease that is another's.

if #ARGV ~= 2 or not tonumber(ARGV[2]) then return redis.error_reply('ERR renew: wrong arguments') end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'lost', {} } end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { 'renewed', {} }
