package lock

import (
	"math"
	"time"
)

// Defaults and bounds of Acquire.
const (
	// DefaultTTL is how long a lock outlives a holder that died.
	DefaultTTL = 10 * time.Second
	// DefaultMaxHold ends the renewal of a lease somebody forgot to release.
	DefaultMaxHold = time.Hour
	// Unlimited, given to MaxHold, renews for as long as the process lives.
	Unlimited time.Duration = math.MaxInt64
	// MaxResourceLength is the longest resource name in bytes.
	MaxResourceLength = 512
)

// AcquireOptions is what the options of one Acquire add up to. Implementations
// of Locker read it; callers use the functions of type AcquireOption.
type AcquireOptions struct {
	TTL         time.Duration
	NoWait      bool
	MaxWait     time.Duration // 0: only ctx bounds the wait
	MaxAttempts int           // 0: any number
	NoRenew     bool
	MaxHold     time.Duration
	Fair        bool
	Fenced      bool

	FailOnDeadlock bool
}

// AcquireOption configures one Acquire.
type AcquireOption func(*AcquireOptions)

// TTL sets how long the lock lives without being renewed: the time others wait
// after its holder has died. Renewal happens every third of it.
func TTL(d time.Duration) AcquireOption { return func(o *AcquireOptions) { o.TTL = d } }

// NoWait makes one attempt and fails with *HeldError if the resource is held.
func NoWait() AcquireOption { return func(o *AcquireOptions) { o.NoWait = true } }

// MaxWait bounds the wait, unlike a deadline of ctx, which also bounds the lease.
// When it is spent, Acquire fails with a *WaitError that matches ErrMaxWait.
func MaxWait(d time.Duration) AcquireOption { return func(o *AcquireOptions) { o.MaxWait = d } }

// MaxAttempts bounds the number of attempts; the last one's error is returned.
func MaxAttempts(n int) AcquireOption { return func(o *AcquireOptions) { o.MaxAttempts = n } }

// NoRenew leaves it to the caller to Extend the lease before it runs out.
func NoRenew() AcquireOption { return func(o *AcquireOptions) { o.NoRenew = true } }

// MaxHold ends the lease, with ErrMaxHold as cause, when it was held for d. The
// nodes forget it one TTL later at the latest. The default is one hour.
func MaxHold(d time.Duration) AcquireOption { return func(o *AcquireOptions) { o.MaxHold = d } }

// Fair keeps this call from overtaking anybody already queueing for the resource.
// Without it a newcomer may win an instant at which nobody holds the lock and no
// hand-over is under way. With several nodes it costs one more round trip.
func Fair() AcquireOption { return func(o *AcquireOptions) { o.Fair = true } }

// Fenced makes Acquire fail with ErrInvalidOption, and give the lock back, where it would
// have a lease without a fencing token: the nodes of some drivers have no counters. For
// callers whose resource relies on tokens.
func Fenced() AcquireOption { return func(o *AcquireOptions) { o.Fenced = true } }

// FailOnDeadlock ends the wait with a [DeadlockError] where it is found to be part of a
// cycle: the caller, as its context says (see [Holding]), holds what a call waits for that
// holds, in the end, what this one waits for, all in this process. A call must wait on the
// engine that has granted what it waits for: a cycle through two engines on the same servers
// is, like one through two processes, seen on the nodes alone, and shown by the live page
// (package live), lockscope list and lockscope serve. The cycle must have been there for 50
// ms. Of the calls in a cycle that ask for this, one fails. Without it cycles are told to
// the traces alone.
func FailOnDeadlock() AcquireOption { return func(o *AcquireOptions) { o.FailOnDeadlock = true } }

// NewAcquireOptions applies opts to the defaults.
func NewAcquireOptions(opts ...AcquireOption) AcquireOptions {
	o := AcquireOptions{TTL: DefaultTTL, MaxHold: DefaultMaxHold}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}
