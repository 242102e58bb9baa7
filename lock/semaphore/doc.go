// Package semaphore gives out a fixed number of permits among processes, over any [lock.Locker].
//
//	pool, err := semaphore.New(locker, "exports", 5)
//	...
//	err = pool.Do(ctx, func(ctx context.Context, permit *semaphore.Permit) error {
//		return export(ctx, permit.Slot(), permit.Fence())
//	})
//
// # What it promises
//
// At most k permits of a name are valid at once, if a majority of the nodes knows k or all processes use it. Each permit
// is a lease on one of k slots. Slot 3 of "exports" is the lock "exports#3", with all the promises of a lock. Whatever
// breaks the promise of a lock breaks it for one slot.
//
// A permit is a slot and a fencing token, and the tokens of each slot rise. A storage that checks tokens keeps one
// for each slot, and refuses a token below the highest that it has seen for that slot. There is no token for all slots.
//
// If a holder crashes, its permit can be acquired again at most one TTL later ([lock.TTL], 10 seconds by default).
// There is no count to repair.
//
// # Waiting
//
// A call that finds all slots held waits. How it is served depends on the driver.
//
// Nodes of package memlock, and of package redlock without a Redis Cluster, have one queue for all slots of a name:
//
//   - The calls of all processes are served first come, first served, whichever slot becomes free. The calls of a
//     process stand in the queue as one: its own calls are served in order, each in its turn.
//   - A release keeps its slot for the first in the queue for 50 milliseconds, and names that process. Nobody else is
//     woken up. The number of commands for a hand-off does not depend on the number of processes that wait.
//   - A process that is dead or does not listen is passed over. If a named process does not come, or if its message
//     is lost, the slot goes to the next caller that asks. At the next poll of any waiter the queue is offered it, too:
//     [lock.WithPollInterval] is half a second by default, and longer for those far behind.
//   - A call that gives up leaves the queue, and passes on a slot that is kept for it.
//   - The queue is on one node. While that node does not answer, waiters queue at another one, and the order among
//     them can change.
//   - A newcomer, or a waiter that looks again by itself, can overtake where a slot became free without a release,
//     where a named process could not take it at once and, on several nodes, in the instant of a hand-off.
//     [lock.Fair] makes that rarer, for one more round trip.
//   - A message for one call can come when the next call of its process already waits. That call then loses its place
//     until its next poll.
//
// With other drivers, and on a Redis Cluster, a call waits in the queue of one slot: the one that its process released
// last. When nothing has happened for a poll interval, it asks for at most ten other slots. The calls of a process are
// served first come, first served, and the first of them does all that. A slot that the process releases goes to it at once.
//
// So the order holds within a process there, and among processes that wait for the same slot. A process can get a permit
// before another one that has waited longer on another slot. A slot that becomes free where nobody waits for it can
// stay free for a poll interval, or for one in each ten slots.
//
// # The number of slots
//
// What keeps processes from using different numbers depends on the driver.
//
//	             k is known to the nodes  until
//	redlock      yes, on each node        nobody has used the semaphore for a day
//	redlock on a Redis Cluster  no
//	memlock      yes, on each node        nobody has used the semaphore for a day
//	pglock       yes, in a row            nobody has used the semaphore for a day
//	etcdlock     yes, in a key            nobody has used the semaphore for a day
//	zklock       yes, in a node           somebody deletes the node
//	redsynclock  no
//
// Nodes that know k:
//
//   - A node takes k from the first caller, once it may vote, and remembers it. A day may be as little as 12 hours.
//   - It refuses an acquire with another k. If a majority does, the call fails at once with a [lock.SlotsError].
//   - It refuses to renew a slot that is not there any more. Other permits outlast a change of k.
//   - engine.Engine.Resize changes k on all nodes. A smaller k is true once it returns: the longest TTL later.
//   - So at most k permits are valid, for the k that a majority knows; while Resize is under way, for the larger one.
//   - A node that loses its data forgets k, and takes that of the next caller. One such node is no majority. If more
//     forget, or if the semaphore was not used for a day, processes with an old k can bring it back. Stop them.
//
// Elsewhere the nodes do not know k. A holder's record has it, and a call that meets a holder
// with another k fails at once with a lock.SlotsError, on either side. The call with the larger k could break the bound of the
// other one, and the call with the smaller k can no longer rely on its own. A call that gets a permit without meeting
// such a holder learns nothing: at most the largest k permits are valid. To change k there, use a new name, or stop all
// processes for one TTL.
//
// # Cost
//
// A permit costs what a lock costs if the first slot that is asked is free. A process first asks for the slot that it
// released last. Slots that its own permits hold are not asked. Each slot that another process holds costs one more
// round, up to k rounds if all are held. If a call of the process waits already, the next one does not ask, but waits
// behind it.
//
// Metrics, spans and pages show a permit as one acquisition of the semaphore by its name, with one wait. The lease, and
// each attempt, are of a slot.
package semaphore
