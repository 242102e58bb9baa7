package lock

import (
	"os"
	"strconv"
	"time"
)

// Option configures an engine or its driver. Every driver accepts the options of this package
// as well as its own, whose types embed a [DriverOption].
type Option interface{ option(*Options) }

// DriverOption, embedded in a type of a driver, makes that type an Option. [NewOptions] leaves such options to the
// driver, in [Options].Driver.
type DriverOption struct{}

func (DriverOption) option(*Options) {}

// Options holds the values of an engine's options, not validated yet. Engines and drivers read it.
type Options struct {
	Prefix       string        // of the keys
	Instance     string        // this process, as others see it; host/pid by default
	Backend      string        // name of the set of nodes; "" for the kind of system
	NodeTimeout  time.Duration // 0: it follows the TTL
	MaxTTL       time.Duration
	PollInterval time.Duration
	CallSites    bool
	Page         string         // URL where this process shows its locks
	NodeNames    []string       // in the order of the nodes; empty for the nodes' own names
	Acquire      AcquireOptions // defaults of every Acquire

	Driver []Option // those that are not of this package, in order
}

// NewOptions returns the defaults with opts applied in order; nil options are skipped.
func NewOptions(opts ...Option) Options {
	o := Options{Prefix: DefaultPrefix, Instance: hostAndPID(), MaxTTL: DefaultMaxTTL, PollInterval: DefaultPollInterval,
		Acquire: NewAcquireOptions()}
	for _, opt := range opts {
		switch opt := opt.(type) {
		case nil:
		case option:
			opt(&o)
		default:
			o.Driver = append(o.Driver, opt)
		}
	}
	return o
}

// option is a function that is an Option.
type option func(*Options)

func (set option) option(o *Options) { set(o) }

// WithPrefix sets the prefix of lock keys, instead of [DefaultPrefix]. It must not be empty or
// contain braces or control characters; see [ValidateResource].
func WithPrefix(prefix string) Option {
	return option(func(o *Options) { o.Prefix = prefix })
}

// WithInstance names this process in the locks it holds, so that waiters see who blocks them.
// The default is host/pid. Characters that cannot be stored are replaced.
func WithInstance(name string) Option {
	return option(func(o *Options) { o.Instance = name })
}

// WithBackend names the set of nodes in traces and metrics, such as "orders" or "eu-west", to
// distinguish several sets in one process. The default is the kind of system, such as "redis".
// The name must not contain control characters.
func WithBackend(name string) Option {
	return option(func(o *Options) { o.Backend = name })
}

// WithNodeTimeout bounds every command on a node. The default, 0, is a twentieth of the lock's
// TTL, but at least 50 ms and at most 500 ms. A longer timeout tolerates slow nodes and
// clients short of CPU. A shorter one fails sooner when too many nodes hang for a quorum. The
// minimum is 1 ms.
func WithNodeTimeout(d time.Duration) Option {
	return option(func(o *Options) { o.NodeTimeout = d })
}

// WithMaxTTL sets the longest TTL that Acquire accepts. Every process that uses these nodes must set
// the same value, since a node that restarted may not vote until locks with this TTL have expired.
func WithMaxTTL(d time.Duration) Option {
	return option(func(o *Options) { o.MaxTTL = d })
}

// WithPollInterval sets how long a waiter waits for a notification before it looks again. It
// bounds the latency when a notification is lost. Jitter shortens it by up to a half, and
// waiters far back in the queue look less often.
//
// A holder that uses another library notifies nobody. The first waiter in the queue then
// looks again after at most a fifth of the interval, or half of it during a long hold.
func WithPollInterval(d time.Duration) Option {
	return option(func(o *Options) { o.PollInterval = d })
}

// WithNodeNames names the nodes in errors, traces and metrics, instead of host:port. Give one
// name for each node, in the order of the nodes, without control characters.
func WithNodeNames(names ...string) Option {
	return option(func(o *Options) { o.NodeNames = names })
}

// WithCallSites records the caller of every Acquire as folder, file and line, such as
// "orders/charge.go:42". The lock's value, [HeldError], the trace and the queue entries of
// waiters include it. It costs one walk up the stack for each Acquire, which BENCHMARKS.md of
// package redlock measures.
func WithCallSites() Option { return option(func(o *Options) { o.CallSites = true }) }

// WithPage sets the URL of this process's live page, such as
// "http://10.0.0.7:9090/debug/locks". Its locks and queue entries include the URL, so that a
// reader of one finds the page.
func WithPage(url string) Option { return option(func(o *Options) { o.Page = url }) }

// WithDefaults sets options for every Acquire. Options given to Acquire override them.
func WithDefaults(opts ...AcquireOption) Option {
	return option(func(o *Options) { o.Acquire = o.Acquire.With(opts...) })
}

// hostAndPID names this process as people look for it.
func hostAndPID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return host + "/" + strconv.Itoa(os.Getpid())
}
