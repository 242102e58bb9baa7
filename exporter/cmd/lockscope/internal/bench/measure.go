package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

const (
	// maxProcesses is how many engines share the callers of a hand-off: each has connections of its own, as a process.
	maxProcesses = 8
	// hungCallers is how many callers meet the hung node.
	hungCallers = 8
	// tolerant is the least number of nodes that work while one hangs.
	tolerant = 3
	// shared is the lock that all callers of a hand-off want.
	shared = "shared"
)

// bench is one run.
type bench struct {
	*benchFlags
	nodes []target.Node
	names []string
	ended bool // its own lock is released
}

// measure runs all measurements. There is a report as soon as the nodes are found fit, also after an error.
func (b *bench) measure(ctx context.Context) (r *report, err error) {
	if err := b.refuseOtherModes(ctx); err != nil {
		return nil, err
	}
	e, err := redlock.New(b.clients(), b.options()...)
	if err != nil {
		return nil, err
	}
	lease, err := b.enter(ctx, e)
	if err == nil {
		if err = b.refuseWaiters(ctx); err != nil {
			_ = release(ctx, lease)
		}
	}
	if err != nil {
		_ = e.Close()
		return nil, err
	}
	r = newReport(b)
	defer func() {
		_ = release(ctx, lease)
		_ = e.Close()
		b.ended = true
		r.left = b.left(ctx)
	}()
	return r, b.runAll(ctx, e, r)
}

func (b *bench) runAll(ctx context.Context, e *engine.Engine, r *report) error {
	for _, callers := range b.callers {
		s := b.warm(ctx, b.pairs(e, callers), nil)
		if err := r.add(ctx, kindPair, callers, 1, "", s); err != nil {
			return err
		}
	}
	for _, callers := range b.callers {
		if callers == 1 {
			continue // nobody to hand it to
		}
		if err := b.handOffs(ctx, r, b.clients(), callers, nil); err != nil {
			return err
		}
	}
	if len(b.nodes) >= tolerant {
		return b.withOneHung(ctx, r)
	}
	return nil
}

// warm lets the callers connect, then makes the last node hang if there is a hang, and measures.
func (b *bench) warm(ctx context.Context, callers []caller, h *hang) sample {
	last := len(b.nodes) - 1
	calls := underway{node: b.names[last]}
	take(calls.counting(ctx), b.each/10, callers)
	if h != nil {
		b.settle(ctx, &calls, last)
		h.now.Store(true)
	}
	return take(ctx, b.each, callers)
}

// pairs are callers with a lock each, in one process.
func (b *bench) pairs(l lock.Locker, n int) []caller {
	all := make([]caller, n)
	for i := range all {
		all[i] = pair(l, own(i), b.ttl)
	}
	return all
}

// own is the lock of one caller.
func own(i int) string { return fmt.Sprintf("own-%d", i+1) }

func (b *bench) clients() []redis.UniversalClient { return target.Clients(b.nodes) }

// handOffs measures callers of several processes that want one lock. h may be nil.
func (b *bench) handOffs(ctx context.Context, r *report, clients []redis.UniversalClient, callers int, h *hang) error {
	processes := min(callers, maxProcesses)
	engines, closeAll, err := b.processes(clients, processes)
	if err != nil {
		return err
	}
	defer closeAll()
	all := make([]caller, callers)
	for i := range all {
		all[i] = handOff(engines[i%processes], shared, b.ttl)
	}
	return r.add(ctx, kindHandOff, callers, processes, b.hungName(h), b.warm(ctx, all, h))
}

// processes makes engines that share no connection.
func (b *bench) processes(clients []redis.UniversalClient, n int) (all []*engine.Engine, closeAll func(), err error) {
	closeAll = func() {
		var closing sync.WaitGroup
		for _, e := range all {
			closing.Go(func() { _ = e.Close() }) // each waits for the calls to a node that hangs
		}
		closing.Wait()
	}
	for range n {
		e, err := redlock.New(clients, b.options()...)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		all = append(all, e)
	}
	return all, closeAll, nil
}

// withOneHung measures both kinds while the last node hangs for these callers, and for nobody else.
func (b *bench) withOneHung(ctx context.Context, r *report) error {
	last := len(b.nodes) - 1
	node, ok := b.nodes[last].Client.(*redis.Client)
	if !ok {
		return nil
	}
	measured := func(run func(h *hang, clients []redis.UniversalClient) error) error {
		h := new(hang)
		client := h.client(node)
		defer func() { _ = client.Close() }()
		clients := slices.Clone(b.clients())
		clients[last] = client
		return run(h, clients)
	}
	err := measured(func(h *hang, clients []redis.UniversalClient) error {
		engines, closeAll, err := b.processes(clients, 1)
		if err != nil {
			return err
		}
		defer closeAll()
		s := b.warm(ctx, b.pairs(engines[0], hungCallers), h)
		return r.add(ctx, kindPair, hungCallers, 1, b.hungName(h), s)
	})
	if err != nil {
		return err
	}
	return measured(func(h *hang, clients []redis.UniversalClient) error {
		return b.handOffs(ctx, r, clients, hungCallers, h)
	})
}

// hungName is the node that hangs; "" for none.
func (b *bench) hungName(h *hang) string {
	if h == nil {
		return ""
	}
	return b.names[len(b.names)-1]
}
