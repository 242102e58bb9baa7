// Package decorate is what decorators of a lock.Locker share, for those who write one
// more: metrics of another system, an audit, a limit.
//
// A decorator is a lock.Locker around the next one. Its Acquire starts a [Call], which is
// the context that the next Acquire gets, and returns a lease that embeds [Lease], which
// passes on what it is asked and tells of its end, once:
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
// What only the algorithm knows comes through the hooks of a lock.Trace. A [Layer] installs
// them for the calls of one decorator and finds the call that an event is of. Lockers that
// are not of this module may call none: [Call.Hooked] tells.
//
// Decorators nest, in any order and any number, and a Locker may be decorated twice. What
// the holder of a lease locks inside, in the lease's context, is no part of its call.
//
// Whoever writes a decorator holds it to the contract with locktest.TestLocker.
package decorate
