// Package migration moves a fleet from another lock library to lockscope, one process at a time, without a moment in
// which two processes hold the same lock.
//
//	both := migration.Both(old, locker) // old holds the keys of the old library
//
// The order of the rollout:
//
//  1. Every process uses the old library.
//  2. Roll out [Both]. Such a process holds the old lock and the new one, so it excludes processes of step 1.
//  3. When no process of step 1 is left, roll out the new lock alone. Processes of step 2 hold it, too.
//
// Never run processes of step 1 beside processes of step 3: nothing excludes them.
package migration
