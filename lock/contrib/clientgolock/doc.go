// Package clientgolock lets k8s.io/client-go/tools/leaderelection, and so sigs.k8s.io/controller-runtime, elect through
// a lock.Locker. It needs no Lease object, no rights for one, and no API server that answers.
//
//	candidate := clientgolock.New(locker, "controller", "pod-1")
//	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
//		Lock: candidate, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
//		ReleaseOnCancel: true,
//		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: candidate.Leading(work), OnStoppedLeading: stop},
//	})
//
// controller-runtime takes it as manager.Options.LeaderElectionResourceLockInterface.
//
// # What is promised
//
// At most one candidate of a name has a valid lease. A term that has lost its lease does not get another one: client-go
// stops leading first. The lease lasts for LeaseDuration since the last renewal. client-go gives up after
// RenewDeadline, which is shorter.
//
// # What client-go does not do
//
// Its context of a leader does not end when the lease does, but when client-go has given up. A renewal that hangs, or a
// process that gets no CPU, never gives up: another candidate leads meanwhile. This package does not change that.
// [Lock.Leading] does, for the work of the leader: its context ends with the lease, by a local timer.
// With controller-runtime, call Leading in each Runnable and in the body of Reconcile. A manager does not do so itself.
//
// When the nodes have given the lease to another candidate, client-go tries for RenewDeadline before it stops.
// With ReleaseOnCancel it releases the lease while the leader may still be working.
//
// It checks no fencing token. Pass [Lock.Fence] to the storage that the leader writes to.
//
// Package election of lockscope has none of these gaps, and hands over at once instead of after a RetryPeriod. Use it
// where no library asks for a resourcelock.Interface.
package clientgolock
