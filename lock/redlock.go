package lock

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// MaxNodes is the largest number of nodes of one Redlock. More than nine make
// nothing safer that is worth their latency.
const MaxNodes = 63

// Redlock is a Locker over one node, or over a quorum of independent ones. It is
// safe for concurrent use.
type Redlock struct {
	cfg     config
	id      string // names this process's waiter in queues
	members []*member
	quorum  int
	places  *places
	group   *group

	done      chan struct{} // closed by Close
	closeOnce sync.Once
	closeErr  error
	// closeClients closes the clients Open made; nil if they are the caller's.
	closeClients func() error

	attempts atomic.Uint64

	mu     sync.Mutex
	leases map[*lease]struct{}
}

// New makes a Locker on the given clients: a single-node lock on one, a Redlock
// on more. Each client is one independent server; a Sentinel failover client or
// a cluster client counts as one. It connects to nothing yet.
//
// lockscope opens connections of its own with the clients' addresses,
// credentials, TLS, dialers and process hooks, and leaves the clients as they
// are: they stay the caller's to close, after the Redlock.
//
// An odd number of nodes is best: four tolerate the failure of no more nodes
// than three do.
func New(nodes []redis.UniversalClient, opts ...Option) (*Redlock, error) {
	cfg, err := newConfig(len(nodes), opts)
	if err != nil {
		return nil, err
	}
	if err := checkClients(nodes); err != nil {
		return nil, err
	}
	members := make([]Node, 0, len(nodes))
	ids, scripts := newRunIDs(), newScripts()
	addresses := make(map[string]int)
	for i, given := range nodes {
		g := &guard{nodes: ids, clock: cfg.clock, evictionOK: cfg.evictionOK, off: cfg.unguarded}
		d, err := derive(given, &cfg, g.examine)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("node %d: %w", i+1, err), closeAll(members))
		}
		if first, taken := addresses[d.address]; taken && d.address != "" {
			err = fmt.Errorf("%w: %w: nodes %d and %d are both %s", ErrInvalidNode, ErrDuplicateNode, first+1, i+1, d.name)
			return nil, errors.Join(err, d.Close(), closeAll(members))
		}
		addresses[d.address] = i
		g.name, g.cluster = nodeName(&cfg, d.name, i), d.cluster
		if len(nodes) >= 3 && !d.cluster {
			g.quarantine = cfg.quarantine
		}
		members = append(members, newRedisNode(d, g.name, g, scripts, cfg.nodeTimeout))
	}
	return newRedlock(members, cfg)
}

func nodeName(c *config, name string, i int) string {
	if len(c.aliases) > i {
		return c.aliases[i]
	}
	return name
}

func checkClients(nodes []redis.UniversalClient) error {
	if len(nodes) == 0 || len(nodes) > MaxNodes {
		return fmt.Errorf("%w: %d clients, between 1 and %d are needed", ErrInvalidNode, len(nodes), MaxNodes)
	}
	seen := make(map[redis.UniversalClient]int)
	for i, n := range nodes {
		if first, twice := seen[n]; twice && n != nil {
			return fmt.Errorf("%w: %w: clients %d and %d are one", ErrInvalidNode, ErrDuplicateNode, first+1, i+1)
		}
		seen[n] = i
	}
	return nil
}

func closeAll(nodes []Node) error {
	var errs []error
	for _, n := range nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}

// NewFromNodes makes a Redlock on other implementations of Node, such as the
// fakes of package locktest. It takes them over: Close closes them.
func NewFromNodes(nodes []Node, opts ...Option) (*Redlock, error) {
	cfg, err := newConfig(len(nodes), opts)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 || len(nodes) > MaxNodes {
		return nil, fmt.Errorf("%w: %d nodes, between 1 and %d are needed", ErrInvalidNode, len(nodes), MaxNodes)
	}
	return newRedlock(nodes, cfg)
}

func newRedlock(nodes []Node, cfg config) (*Redlock, error) {
	var id [8]byte
	_, _ = rand.Read(id[:])
	r := &Redlock{
		cfg: cfg, id: hex.EncodeToString(id[:]), quorum: quorumOf(len(nodes)),
		places: newPlaces(len(nodes), cfg.clock),
		group:  newGroup(),
		done:   make(chan struct{}),
		leases: make(map[*lease]struct{}),
	}
	for _, n := range nodes {
		r.members = append(r.members, &member{Node: n})
	}
	return r, nil
}

// attemptName tells one attempt from all others, in public: it follows the holder
// record, so that an Acquire recognizes what its own earlier attempt left behind.
func (r *Redlock) attemptName() string {
	return r.id + "." + strconv.FormatUint(r.attempts.Add(1), 36)
}

// Close ends every wait with ErrClosed and every lease's context with ErrClosed
// as cause, waits for the commands under way (the node timeout bounds each) and
// closes lockscope's connections. Leases not released before are not given back:
// the work they protect may still be running, so their keys live out their TTL.
// A TLS dial under way is waited for too, at most the given client's DialTimeout.
// Further calls return the first one's result.
func (r *Redlock) Close() error {
	r.closeOnce.Do(func() {
		close(r.done)
		for _, l := range r.heldLeases() {
			l.end(ErrClosed)
		}
		r.group.close()
		var errs []error
		for _, m := range r.members {
			errs = append(errs, m.Close())
		}
		if r.closeClients != nil {
			errs = append(errs, r.closeClients())
		}
		r.closeErr = errors.Join(errs...)
	})
	return r.closeErr
}

func (r *Redlock) heldLeases() []*lease {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*lease, 0, len(r.leases))
	for l := range r.leases {
		all = append(all, l)
	}
	return all
}

// Acquire implements [Locker]. Calls for one resource from one Redlock are served
// first come, first served, and only one of them contends with other processes.
func (r *Redlock) Acquire(ctx context.Context, resource string, opts ...AcquireOption) (Lease, error) {
	o := NewAcquireOptions(r.cfg.acquire...)
	o.apply(opts)
	if err := validateName(resource); err != nil {
		return nil, err
	}
	if err := o.validate(&r.cfg); err != nil {
		return nil, fmt.Errorf("%w (resource %q)", err, resource)
	}
	c := &contest{r: r, ts: tracersOf(ctx), name: resource, keys: keysOf(r.cfg.prefix, resource), opts: o, began: time.Now()}
	e := AcquireStart{Resource: resource, Nodes: len(r.members), Quorum: r.quorum, Options: o}
	hooked := c.ts.acquireStart(ctx, e)
	l, err := c.run(ctx, hooked)
	if len(c.ts) > 0 {
		done := AcquireEnd{AcquireStart: e, Attempts: c.attempts, Took: time.Since(c.began), Err: err}
		if l != nil {
			done.Validity, done.Fence = l.Remaining(), l.fence
		}
		c.ts.acquireEnd(hooked, done)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// run acquires within the wait budget; the lease descends from the caller's ctx.
func (c *contest) run(ctx, hooked context.Context) (*lease, error) {
	if err := c.endedBy(ctx); err != nil {
		return nil, c.cut(err, nil)
	}
	wait := hooked
	if c.opts.MaxWait > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeoutCause(hooked, c.opts.MaxWait, ErrMaxWait)
		defer cancel()
	}
	c.at = c.r.places.enter(c.keys.Lock)
	a, err := c.acquire(wait)
	if err != nil {
		c.r.places.leave(c.at)
		return nil, err
	}
	l := newLease(ctx, hooked, a)
	if l.Remaining() <= 0 {
		l.lose()
		return nil, fmt.Errorf("%w: %q ran out while this process stood still", ErrTooLate, c.name)
	}
	return l, nil
}

// wakeUp makes the function that member tells of being named. If nobody here
// waits any more, the next in line is named instead.
func (r *Redlock) wakeUp(m *member) func(lockKey string) {
	return func(lockKey string) {
		if r.places.wakeUp(lockKey) {
			return
		}
		resource := lockKey[min(len(r.cfg.prefix), len(lockKey)):]
		if validateName(resource) != nil {
			return
		}
		req := LeaveRequest{Keys: keysOf(r.cfg.prefix, resource), WaiterID: r.id, Handoff: r.cfg.handoffWindow()}
		r.group.run(func() {
			ctx, cancel := r.within(context.Background())
			defer cancel()
			m.note(m.Leave(ctx, req))
		})
	}
}
