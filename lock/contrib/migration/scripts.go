package migration

import "github.com/lockscope/lockscope/lock/redlock/redisconn"

// form is how a library stores a lock. Each script gets the keys of the lock and of the token's tombstone. All keys of
// a script are in one slot of a Redis Cluster.
type form struct {
	acquire, extend, release *redisconn.Script
	// channel is where the library announces a release of the key; nil if it does not.
	channel func(key string) string
}

// stringForm stores token|holder.
func stringForm() *form {
	// mine reports whether the value is the token's. The token is compared alone: the holder may change.
	const mine = `
		local function mine(value, token)
			return value and string.sub(value, 1, #token + 1) == token .. '|'
		end
		local value = redis.call('GET', KEYS[1])
	`
	return &form{
		acquire: redisconn.NewScript(mine, `
			if redis.call('EXISTS', KEYS[2]) == 1 then return {2} end
			if value and not mine(value, ARGV[1]) then
				return {0, redis.call('PTTL', KEYS[1]), string.match(value, '|(.*)') or ''}
			end
			redis.call('SET', KEYS[1], ARGV[1] .. '|' .. ARGV[3], 'PX', ARGV[2])
			return {1}
		`),
		extend: redisconn.NewScript(mine, `
			if not value and ARGV[4] == '1' and redis.call('EXISTS', KEYS[2]) == 0 then
				redis.call('SET', KEYS[1], ARGV[1] .. '|' .. ARGV[3], 'PX', ARGV[2])
				return 2
			end
			if not value then return 0 end
			if not mine(value, ARGV[1]) then return 3 end
			if ARGV[5] == '1' then
				redis.call('SET', KEYS[1], ARGV[1] .. '|' .. ARGV[3], 'PX', ARGV[2])
			else
				redis.call('PEXPIRE', KEYS[1], ARGV[2])
			end
			return 1
		`),
		release: redisconn.NewScript(mine, `
			if ARGV[2] ~= '0' then redis.call('SET', KEYS[2], '1', 'PX', ARGV[2]) end
			if not value then return 0 end
			if not mine(value, ARGV[1]) then return 2 end
			redis.call('DEL', KEYS[1])
			return 1
		`),
	}
}

// redissonForm stores a hash with the field token:1, as if the token were a client and 1 its thread.
func redissonForm() *form {
	return &form{
		acquire: redisconn.NewScript(`
			if redis.call('EXISTS', KEYS[2]) == 1 then return {2} end
			if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1] .. ':1') == 0 then
				return {0, redis.call('PTTL', KEYS[1]), ''}
			end
			redis.call('HSET', KEYS[1], ARGV[1] .. ':1', '1')
			redis.call('PEXPIRE', KEYS[1], ARGV[2])
			return {1}
		`),
		extend: redisconn.NewScript(`
			local mine = redis.call('HEXISTS', KEYS[1], ARGV[1] .. ':1') == 1
			if not mine and redis.call('EXISTS', KEYS[1]) == 1 then return 3 end
			if not mine and (ARGV[4] ~= '1' or redis.call('EXISTS', KEYS[2]) == 1) then return 0 end
			redis.call('HSET', KEYS[1], ARGV[1] .. ':1', '1')
			redis.call('PEXPIRE', KEYS[1], ARGV[2])
			return mine and 1 or 2
		`),
		release: redisconn.NewScript(`
			if ARGV[2] ~= '0' then redis.call('SET', KEYS[2], '1', 'PX', ARGV[2]) end
			if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
			if redis.call('HEXISTS', KEYS[1], ARGV[1] .. ':1') == 0 then return 2 end
			redis.call('DEL', KEYS[1])
			redis.call('PUBLISH', ARGV[3], '0')
			return 1
		`),
		channel: redissonChannel,
	}
}
