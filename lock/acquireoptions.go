package lock

import (
	"math"
	"time"
)

// Defaults and bounds of Acquire, and of an engine.
const (
	// DefaultTTL is how long a lock outlives a holder that died, at most.
	DefaultTTL = 10 * time.Second
	// DefaultMaxHold is when renewal stops, in case the caller forgot to release the lease.
	DefaultMaxHold = time.Hour
	// Unlimited, given to MaxHold, renews the lease for as long as the process lives.
	Unlimited time.Duration = math.MaxInt64
	// DefaultPrefix is the prefix of lock keys, which leak scanners look for.
	DefaultPrefix = "lock:"
	// DefaultMaxTTL is the longest TTL that Acquire accepts. A node that restarted may not
	// vote until locks with this TTL have expired.
	DefaultMaxTTL = time.Minute
	// DefaultPollInterval is how long a waiter waits for a notification before it looks
	// again.
	DefaultPollInterval = 500 * time.Millisecond
	// MaxNodes is the largest number of nodes of one engine. Beyond nine, the added
	// safety is seldom worth the latency.
	MaxNodes = 63
	// MaxResourceLength is the maximum length of a resource name, in bytes.
	MaxResourceLength = 512
	// MaxReasonLength is the maximum length of the text of [HoldReason], in bytes.
	MaxReasonLength = 256
)

// AcquireOption configures one Acquire. Only the functions of this package make one.
type AcquireOption interface{ acquireOption(*AcquireOptions) }

// AcquireOptions holds the values of the options of one Acquire, for implementations and decorators of Locker.
type AcquireOptions struct {
	TTL         time.Duration
	MaxWait     time.Duration // 0: only ctx bounds the wait
	MaxAttempts int           // 0: no limit
	MinHold     time.Duration // 0: a release frees the resource at once
	MaxHold     time.Duration

	NoWait, NoRenew, Fair, Fenced, FailOnDeadlock bool

	HoldReason string // why the lock is held, for others to read
	Kind       Kind   // what the lock is part of, for others to read
	Mode       Mode
	Slots      int // of the semaphore: see [Slots]; 0 for other locks
}

// NewAcquireOptions returns the defaults with opts applied in order; nil options are skipped.
func NewAcquireOptions(opts ...AcquireOption) AcquireOptions {
	return AcquireOptions{TTL: DefaultTTL, MaxHold: DefaultMaxHold}.With(opts...)
}

// With returns a copy of o with opts applied in order; nil options are skipped.
func (o AcquireOptions) With(opts ...AcquireOption) AcquireOptions {
	if len(opts) == 0 {
		return o
	}
	return o.with(opts)
}

// with is apart from With, which has no allocation without options: here o escapes to the heap.
func (o AcquireOptions) with(opts []AcquireOption) AcquireOptions {
	for _, opt := range opts {
		if opt != nil {
			opt.acquireOption(&o)
		}
	}
	return o
}

// acquireOption is a function that is an AcquireOption.
type acquireOption func(*AcquireOptions)

func (set acquireOption) acquireOption(o *AcquireOptions) { set(o) }

// TTL sets how long the lock lives without renewal: the longest time that others wait after
// its holder has died. Each time a quarter to a third of it has passed, the lease is renewed. The default is
// [DefaultTTL].
func TTL(d time.Duration) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.TTL = d })
}

// NoWait makes Acquire fail with *HeldError if the resource is held. If several callers ask at the same instant and split
// the nodes' votes, so that nobody has the lock, Acquire tries again for a moment until one of them does.
func NoWait() AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.NoWait = true })
}

// MaxWait bounds the wait but not the lease; a deadline of ctx bounds both. When d
// has passed, Acquire fails with a *WaitError that matches ErrMaxWait.
func MaxWait(d time.Duration) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.MaxWait = d })
}

// MaxAttempts bounds the number of attempts. Acquire returns the error of the last one. The second attempt follows the
// first at once, after the caller has arranged to be woken; MaxAttempts(2) waits only if that was arranged before. Each
// later attempt comes when a release wakes the caller, or after the poll interval: see [WithPollInterval]. Waiting
// behind other callers of the process does not count as an attempt. Use [MaxWait] to bound the wait by time.
func MaxAttempts(n int) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.MaxAttempts = n })
}

// NoRenew turns automatic renewal off: call Extend before the lease runs out.
func NoRenew() AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.NoRenew = true })
}

// MinHold keeps the resource locked for at least d after the grant. An earlier release ends the lease, but nobody, not even
// this process, can acquire the resource before d has passed, even if the process exits right after the release.
//
// It is for short jobs that several machines start, each by its own clock. Make d longer than their clocks differ and
// shorter than the interval of the job: then only one of them runs it.
//
// The release shortens the TTL of the keys instead of deleting them. Refused callers see Holder.Done, and how long the
// resource stays locked. If the process dies before the release, the keys keep their TTL, whatever d is, and so do those
// on a node that does not get the release.
//
// d is at most [WithMaxTTL] and MaxHold. Such a lease is not handed over inside the process. Readers cannot use MinHold. A
// driver that cannot keep a resource fails with an error that matches errors.ErrUnsupported, before any command is sent.
func MinHold(d time.Duration) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.MinHold = d })
}

// MaxHold ends the lease when it has been held for d, with ErrMaxHold as cause. The nodes forget
// it at most one TTL later. The default is [DefaultMaxHold].
func MaxHold(d time.Duration) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.MaxHold = d })
}

// Fair keeps this call from overtaking callers that already queue for the resource. Without
// it, a newcomer may win in the instant between two holders. With several nodes, Fair costs one
// more round trip, and a call that waits still asks all nodes at every other poll, because the
// node with the queue may be wrong: that call can overtake.
func Fair() AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.Fair = true })
}

// Fenced requires a fencing token, for callers whose resource relies on tokens. The nodes of
// some drivers keep no counters: Acquire then gives the lock back and fails with
// ErrInvalidOption, instead of returning a lease whose Fence is 0.
func Fenced() AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.Fenced = true })
}

// HoldReason says why the lock is held, for callers that are refused and for pages: 1 to [MaxReasonLength] bytes of UTF-8,
// without the hidden characters that [ValidateResource] refuses. Use it for what a person does, such as maintenance. A
// program is identified by its name and call site.
func HoldReason(text string) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.HoldReason = text })
}

// FailOnDeadlock ends the wait with a [DeadlockError] if the call is part of a deadlock. In a
// deadlock, each call in a cycle waits for a lease that the next call holds. The context of a
// call decides which leases it holds; see [HeldLeases]. Once the cycle has lasted 50 ms, one of its
// calls with this option fails. Without this option cycles are only reported to the traces.
//
// It detects only cycles inside one process, because a process does not know what holders in other processes
// wait for, and only if each call waits on the engine that granted the lease it waits for. Cycles through two
// processes, or two engines on the same servers, are visible on the nodes: lockscope list, lockscope top and the
// pages of lockscope serve show them, and serve reports them.
func FailOnDeadlock() AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.FailOnDeadlock = true })
}

// OfKind names what the lock is part of, for views: [KindElection] or [KindSet]. The other kinds follow from [InMode] and
// from [Slots]; an engine refuses them here with ErrInvalidOption.
func OfKind(k Kind) AcquireOption { return acquireOption(func(o *AcquireOptions) { o.Kind = k }) }

// InMode asks for the lock as one of its readers, or as its writer. Most callers use package rwlock, which sets it. A driver
// without modes fails with an error that matches errors.ErrUnsupported, before any command is sent.
func InMode(m Mode) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.Mode, o.Kind = m, m.kind() })
}

// Slots makes the resource a semaphore with k slots, 1 to 100: the call asks for any one of them, and waits in one queue for
// all of them. Resource of the lease says which slot it got: NAME#0 to NAME#(k-1). All calls must give the same k. Most
// callers use package semaphore, which sets this option. If the resource is itself the name of a slot, NAME#i with i below
// k, the call asks for that slot alone.
//
// Acquire fails with [*FullError], which matches ErrHeld, if all slots are held and the call does not wait (any longer), and
// with [*SlotsError] if the nodes or a holder know another number of slots. For [MaxAttempts], one look at all slots is one
// attempt. FailOnDeadlock fails with ErrInvalidOption if there are several slots: any of their holders can end the wait, so
// no cycle is certain.
func Slots(k int) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.Slots, o.Kind = k, KindSemaphore })
}
