// Package decorate helps to write decorators of a lock.Locker, such as metrics of another system, an
// audit log or a limit.
//
// A decorator is a lock.Locker around the next one. Its Acquire starts a [Call], which is the context of
// the next Acquire. It returns a lease that embeds [Lease], which forwards its methods and reports its
// end once:
//
//	func (a *audit) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
//		l := &auditedLease{audit: a}
//		l.call.Start(ctx, a.layer, l)
//		next, err := a.next.Acquire(&l.call, resource, opts...)
//		if err != nil {
//			return nil, err
//		}
//		l.Begin(&l.call, next, l)
//		l.Watch()
//		return l, nil
//	}
//
// The hooks of a locktrace.Trace report the steps of the algorithm. A [Layer] installs them for the calls of
// one decorator, and finds the call that an event belongs to. Lockers outside this module may call no
// hooks: [Call.Hooked] reports whether they do. A [WaitClock] divides the time of a call among the classes
// of wait. A [NodeHealth] says whether a node is up, shaky or down.
//
// Decorators nest in any order and number, and a Locker may be decorated twice. Locks that a holder takes
// in the lease's context do not belong to the lease's call.
//
// Test a decorator with locktest.Run.
package decorate
