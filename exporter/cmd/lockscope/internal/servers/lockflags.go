package servers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

// ExitNoLock is the exit status if no lock was acquired, and it is not known to be held, as env and docker have it for
// their own failures.
const ExitNoLock = 125

// MinTTL is the shortest TTL that LockFlags accept. What a command does in the last part of a lease takes time.
const MinTTL = time.Second

var (
	errSeveral = errors.New("servers of several systems are named: take the lock on one of --redis, --postgres, " +
		"--etcd and --zookeeper")
	errStandardInput = errors.New("--redis-file - reads standard input, which belongs to the command: name a file")
)

// LockFlags say on which servers a command takes locks, and how.
type LockFlags struct {
	TTL      time.Duration
	Instance string // the name under which the locks are held; the engine's default if it is empty

	servers     Flags
	names       NamesFlag
	guard       diagnosis.GuardFlags
	prefix      string
	maxTTL      time.Duration
	nodeTimeout time.Duration
}

// Register adds the flags.
func (f *LockFlags) Register(set *pflag.FlagSet) {
	f.RegisterServers(set)
	set.DurationVar(&f.TTL, "ttl", lock.DefaultTTL,
		"how long others wait if this machine dies. The lock is renewed after a quarter to a third of it")
	ui.Group(set, "Lock", "ttl")
}

// RegisterServers adds the flags of a command that holds no lock.
func (f *LockFlags) RegisterServers(set *pflag.FlagSet) {
	f.TTL = lock.DefaultTTL
	f.servers.Redis.Register(set)
	f.names.Register(set)
	f.guard.Register(set)
	f.servers.Others.Register(set)
	set.StringVar(&f.prefix, "prefix", lock.DefaultPrefix,
		"`text` that lock keys begin with in Redis and PostgreSQL: WithPrefix of the services")
	set.DurationVar(&f.maxTTL, "max-ttl", 0,
		"longest TTL of a lock: WithMaxTTL of the services (default 1m, and 10s in ZooKeeper)")
	set.DurationVar(&f.nodeTimeout, "node-timeout", 0,
		"longest time to wait for an answer of a server (default a twentieth of --ttl, but 50ms to 500ms)")
	ui.Group(set, "Lock", "prefix", "max-ttl", "node-timeout")
}

// Validate refuses values that make no sense, before anything else is done.
func (f *LockFlags) Validate() error {
	switch {
	case f.TTL < MinTTL:
		return fmt.Errorf("--ttl %v is too short: use %v or more", f.TTL, MinTTL)
	case f.maxTTL < 0:
		return fmt.Errorf("--max-ttl %v is negative", f.maxTTL)
	case f.nodeTimeout < 0:
		return fmt.Errorf("--node-timeout %v is negative", f.nodeTimeout)
	case f.servers.Redis.Config.File == "-":
		return errStandardInput
	}
	return nil
}

// Open makes an engine on the servers of one system. close closes it and its connections. Open asks an etcd cluster for
// its first answer; the other systems are asked when a lock is acquired.
func (f *LockFlags) Open(ctx context.Context, a *ui.App) (e *engine.Engine, closeAll func(), err error) {
	s, err := f.servers.Open(a, []string{f.prefix})
	switch {
	case err != nil:
		return nil, nil, err
	case len(s.Others) == 0:
		return f.onRedis(s.Nodes)
	case len(s.Others) > 1 || len(s.Nodes) > 0:
		s.Close()
		return nil, nil, errSeveral
	}
	return f.onOther(ctx, s.Others[0])
}

func (f *LockFlags) onRedis(nodes []Node) (e *engine.Engine, closeAll func(), err error) {
	names, err := f.names.Of(nodes)
	if err == nil {
		opts := append(f.options(), lock.WithPrefix(f.prefix), lock.WithNodeNames(names...))
		e, err = redlock.New(Clients(nodes), append(opts, f.guard.Options()...)...)
	}
	if err != nil {
		Release(nodes)
		return nil, nil, err
	}
	return e, func() { _ = e.Close(); Release(nodes) }, nil
}

func (f *LockFlags) onOther(ctx context.Context, b Other) (e *engine.Engine, closeAll func(), err error) {
	if e, err = b.Locker(ctx, f.options()...); err != nil {
		b.Close()
		if lock.ReasonOf(err) != lock.ReasonInvalid {
			err = &ui.StatusError{Status: ExitNoLock, Err: err}
		}
		return nil, nil, err
	}
	return e, func() { _ = e.Close(); b.Close() }, nil
}

// options are those of all systems.
func (f *LockFlags) options() (opts []lock.Option) {
	if f.Instance != "" {
		opts = append(opts, lock.WithInstance(f.Instance))
	}
	if f.maxTTL > 0 {
		opts = append(opts, lock.WithMaxTTL(f.maxTTL))
	}
	if f.nodeTimeout > 0 {
		opts = append(opts, lock.WithNodeTimeout(f.nodeTimeout))
	}
	return opts
}

// Wait says how long a command waits for its lock.
type Wait struct {
	Limit time.Duration // 0: until the lock is free, unless the flag says 0
	None  bool

	set *pflag.FlagSet
}

// Register adds the flags.
func (w *Wait) Register(set *pflag.FlagSet) {
	w.set = set
	set.DurationVarP(&w.Limit, "wait", "w", 0, "give up after this time (default no limit)")
	set.BoolVarP(&w.None, "no-wait", "n", false, "give up at once if the lock is held")
	ui.Group(set, "Waiting", "wait", "no-wait")
}

func (w *Wait) given() bool { return w.set != nil && w.set.Changed("wait") }

// Validate refuses values that make no sense.
func (w *Wait) Validate() error {
	switch {
	case w.Limit < 0:
		return fmt.Errorf("--wait %v is negative", w.Limit)
	case w.None && w.given():
		return errors.New("--wait and --no-wait exclude each other: use one")
	}
	return nil
}

// Options are those of the acquisition.
func (w *Wait) Options() []lock.AcquireOption {
	switch {
	case w.None || w.given() && w.Limit == 0:
		return []lock.AcquireOption{lock.NoWait()}
	case w.Limit > 0:
		return []lock.AcquireOption{lock.MaxWait(w.Limit)}
	}
	return nil
}
