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

// AcquireOptions is what the options of one Acquire say. Implementations and decorators of Locker read it.
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
// its holder has died. The lease is renewed after a quarter to a third of it, again and again. The default is
// [DefaultTTL].
func TTL(d time.Duration) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.TTL = d })
}

// NoWait makes Acquire fail with *HeldError if the resource is held. If several callers ask at the same instant and split
// the nodes' votes, so that nobody has the lock, Acquire tries again for a moment until one of them does.
func NoWait() AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.NoWait = true })
}

// MaxWait bounds the wait and leaves the lease alone; a deadline of ctx bounds both. When d
// has passed, Acquire fails with a *WaitError that matches ErrMaxWait.
func MaxWait(d time.Duration) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.MaxWait = d })
}

// MaxAttempts bounds the number of attempts. Acquire returns the error of the last one. The second attempt follows the
// first at once, after the caller has arranged to be woken; MaxAttempts(2) waits only if that was arranged before. Each
// later attempt comes when a release wakes the caller, or after the poll interval: see [WithPollInterval]. Waiting
// behind other callers of the process is no attempt. Use [MaxWait] to bound the wait by time.
func MaxAttempts(n int) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.MaxAttempts = n })
}

// NoRenew turns automatic renewal off: call Extend before the lease runs out.
func NoRenew() AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.NoRenew = true })
}

// MinHold keeps the resource from everybody, this process included, until d has passed since the grant, however early the
// lease is released, and also if the process exits right after the release. The lease itself is over once it is released.
// It is for short jobs that several machines start, each by its own clock: d is longer than their clocks differ and shorter
// than the interval of the job, so that one of them runs it. The release shortens the time to live of the keys instead of
// deleting them; refused callers see Holder.Done, and for how long. A process that dies before the release leaves the TTL,
// whatever d is, and so does a node that does not get the release.
//
// d is at most [WithMaxTTL] and MaxHold. Such a lease is not handed over inside the process, and readers have none. A driver
// that cannot keep a resource fails with an error that matches errors.ErrUnsupported, before any command is sent.
func MinHold(d time.Duration) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.MinHold = d })
}

// MaxHold ends the lease when it was held for d, with ErrMaxHold as cause. The nodes forget
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
// without a character that [ValidateResource] refuses as hidden. Give it to what a person does, such as maintenance. A
// program is known by its name and call site.
func HoldReason(text string) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.HoldReason = text })
}

// FailOnDeadlock ends the wait with a [DeadlockError] if the call is part of a deadlock. In a
// deadlock, each call of a cycle waits for a lease that the next call holds. The context of a
// call decides which leases it holds; see [HeldLeases]. Once the cycle has lasted 50 ms, one of its
// calls with this option fails. Without this option cycles are only reported to the traces.
//
// Only cycles inside one process are detected here, and only if each call waits on the engine
// that granted the lease it waits for. Cycles through two processes, or two engines on
// the same servers, are visible on the nodes: lockscope list, lockscope top and the pages of lockscope serve
// show them, and serve reports them. A process of such a cycle does not know what its holder waits for.
func FailOnDeadlock() AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.FailOnDeadlock = true })
}

// OfKind names what the lock is part of, for views: [KindElection] or [KindSet]. The other kinds follow from [InMode] and
// from [Slots]; an engine refuses them here with ErrInvalidOption.
func OfKind(k Kind) AcquireOption { return acquireOption(func(o *AcquireOptions) { o.Kind = k }) }

// InMode asks for the lock as one of its readers, or as its writer. Package rwlock gives it; most callers use that. A driver
// without modes fails with an error that matches errors.ErrUnsupported, before any command is sent.
func InMode(m Mode) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.Mode, o.Kind = m, m.kind() })
}

// Slots makes the resource a semaphore with k slots, 1 to 100: the call asks for any one of them, and waits in one queue for
// all of them. Resource of the lease says which slot it got: NAME#0 to NAME#(k-1). All calls must name the same k. Package
// semaphore gives this option; most callers use that. A resource that has the name of a slot, NAME#i with i below k, asks for
// that slot alone.
//
// Acquire fails with [*FullError], which matches ErrHeld, if all slots are held and the call does not wait (any longer), and
// with [*SlotsError] if the nodes or a holder know another number of slots. An attempt of [MaxAttempts] is a look at all
// slots. FailOnDeadlock fails with ErrInvalidOption if there are several slots: any of their holders can end the wait, so
// no cycle is certain.
func Slots(k int) AcquireOption {
	return acquireOption(func(o *AcquireOptions) { o.Slots, o.Kind = k, KindSemaphore })
}
