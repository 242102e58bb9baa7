// Package migration moves a fleet from another lock library to lockscope, one process at a time, without a moment in
// which two processes hold the same lock.
//
//	old, err := migration.StringKeys("", []redis.UniversalClient{client}) // the servers and keys of the old library
//	locker := migration.Both(old, locker)                               // what redlock.Open returned
//
// The order of the rollout:
//
//  1. Every process uses the old library.
//  2. Roll out [Both]. Such a process holds the old lock and the new one, so it excludes processes of step 1.
//  3. When no process of step 1 is left, roll out the new lock alone. Processes of step 2 hold it, too.
//
// Never run processes of step 1 beside processes of step 3: nothing excludes them.
//
// The old lock of [Both] can be any Locker whose locks the old library respects:
//
//	redsync                        redsynclock.New with the same pools, or StringKeys
//	redislock, node-redlock        StringKeys
//	ShedLock with a Redis provider StringKeys with the prefix job-lock:default:
//	Redisson's RLock               RedissonKeys
//
// The pages beside this file have the steps and the code for each library.
//
// # What the old keys promise
//
// [StringKeys] and [RedissonKeys] promise what the old library does, and no more. A server that restarts without its
// data, or a failover, forgets locks, and nobody detects it. There are no fencing tokens: Fence is 0, and Acquire with
// lock.Fenced fails. Waiters poll. The leases of Both have the new lock's token and end by a local timer.
package migration
